#pragma once
// Tuning that also starts from views found by rewriting (search/eqsat): im2col, operands in another
// order, loops taken together. Start at tune_with_views.
//
// Each view is a schedule that the core proved, and one more form of the kernel for one run of the
// tuner to start from (TuneRequest::starts): what it leads to is measured among the schedules of
// the kernel as written, and has fewer turns where it falls behind. So a view wins when it is
// faster, copies included, and never otherwise.
#include <vector>

#include "runners/runner.h"
#include "search/eqsat/lowering.h"
#include "search/runner_tuning.h"
#include "search/tuner.h"

namespace exotune {

/// Rules by what they are for; blocks are looked for by themselves, or few of the smallest terms
/// would be blocks.
struct ViewRules {
  std::vector<eqsat::RuleText> views;
  std::vector<eqsat::RuleText> tiles;   // views for machines that multiply tiles
  std::vector<eqsat::RuleText> blocks;  // with K: as many elements as an instruction takes; or none
  std::vector<eqsat::RuleText> reductions;  // over windows
};

struct ViewToTry {
  eqsat::Candidate view;
  /// Vector operations of the kernel as written over those of the view; 1 where nobody can tell.
  double gain = 1;
};

/// Views of the request's kernel that may be worth a search, most promising first: at most `most`.
/// With Strategy::kAll only those that need fewer vector operations than the kernel as written,
/// copies included, and than those that copy a part of what they do; with kEqsat all, and loops cut
/// in blocks where that is fewer than `most`; none for other strategies. For machines that multiply
/// tiles: those that take the fewest cycles first, copies included, loops of the sum taken together
/// and in another order too; operands in another order are what an instruction may want.
std::vector<ViewToTry> views_to_try(const TuneRequest& request, const ViewRules& rules,
                                    size_t most);

/// tune(), with the views as further starts. An estimate measures nothing and has no views.
TuneResult tune_with_views(TuneRequest request, const ViewRules& rules, Store& store,
                           const TuneHooks& hooks = {});

/// tune_on(), with the views as further starts.
TuneResult tune_on_with_views(Runner& runner, TuneRequest request,
                              const std::vector<KnownSchedule>& known, const ViewRules& rules,
                              Store& store, const TuneHooks& hooks = {});

}  // namespace exotune
