#pragma once
// PartPricing: what the static cost model says of parts of a program, which may stand inside loops
// and have sizes of their own. Start at PartPricing.
#include <string>

#include "search/beam.h"
#include "search/part_plans.h"

namespace exotune {

/// The same procedure, and the same text, with no two arguments of one name: two loops called `ib`,
/// blocks and blocks in them, are printed as `ib` and `ib_1`, and are called so here. Who gives
/// values to arguments goes by their names. `p` where there are no two, or its text would change.
ProcPtr with_names_apart(const ProcPtr& p);

class PartPricing {
 public:
  /// Borrows the context: its weights price, its sizes are those of the whole program.
  explicit PartPricing(const BeamContext& context) : context_(context) {}

  /// The schedule as a plan: its steps and the cycles of one run of its procedure.
  PartPlan plan_of(const Schedule& s, const std::string& move) const;

  /// Values for all of a part's control arguments: iterators of loops around it stand at the middle
  /// of what the part's own assertions say, else at 32.
  SizeBinding sizes_of(const Proc& p) const;

  /// How often the loops around a nest run it, at least 1.
  double entries_of(const Proc& p, const Cursor& nest) const;

 private:
  const BeamContext& context_;
};

}  // namespace exotune
