#pragma once
// Beam search over steps: states are schedules, moves are library operators, the order is the
// static cost. Start at beam_search.
//
// Deterministic: the result depends on the kernel, the space and the options, never on the number
// of threads. Untrusted: every state is what the verified core made of its steps.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/library/step.h"
#include "cost/static_cost.h"
#include "search/moves.h"

namespace exotune {

struct BeamState {
  ProcPtr proc;               // without provenance: its steps tell where it came from
  Steps steps;                // that make it from the kernel
  bool reassociated = false;  // some step reordered floating-point sums
  std::set<std::string> tags;
  StaticCost cost;
  std::string text_hash;  // of the proc up to names: equal schedules are one state
  size_t form = 0;        // that the steps begin at: 0 the kernel, k + 1 its start number k
};

/// What schedules are made from and judged by; the same for a whole search.
struct BeamContext {
  ValueList instructions;  // that steps may use, in the order in which they are preferred
  SizeBinding sizes;       // values of symbolic sizes, for the cost
  CostWeights weights;
  /// What every schedule must keep, of procedures that descend from the one the search starts at.
  std::vector<ScriptConstraint> constraints;
};

/// The procedure as it is, with its cost.
BeamState first_state(const ProcPtr& kernel, const BeamContext& context);

/// Applies the steps to the state; the first that is refused ends it. While the thread's deadline
/// (DeadlineScope) is over every step is refused.
std::optional<StepRefusal> extend(BeamState& state, const Steps& steps, const BeamContext& context);

struct Extended {
  bool reached = false;  // false: the deadline was over first
  std::optional<StepRefusal> refusal;
  BeamState state;  // when reached and not refused
};

/// What each list of steps makes of `start`, in the order of the lists. Steps that several begin
/// with are applied once; in parallel, and the same however many threads there are.
std::vector<Extended> extend_all(const BeamState& start, const std::vector<Steps>& lists,
                                 const BeamContext& context, const Deadline& deadline);

struct BeamOptions {
  int width = 16;     // states kept after each stage but the last
  int keep = 200;     // states returned
  int enough = 0;     // states that make wider passes needless; 0: there are never enough
  uint64_t seed = 1;  // breaks ties among equal costs
  Deadline deadline;  // ends it with what there is
  std::function<void(int done, int planned)> progress;  // may be empty; from one thread
};

struct BeamResult {
  std::vector<BeamState> states;  // best cost first, tags in turn
  int made = 0, refused = 0, duplicates = 0;
  std::map<std::string, int> refusals;         // by the operator of the refused step
  std::map<std::string, std::string> reasons;  // the first text of each
  std::string first_refusal;                   // its text
  bool cut_short = false;                      // the deadline was over first
};

/// Applies the prologue, then one move of each stage to each kept state, in parallel. A state is
/// pruned only against states with the same tags, so that each way of going on keeps its best; the
/// cost orders what is returned, of each of the space's tags `in_turn` the best first. Goes through
/// the stages more than once, each time keeping more of each stage, so that a search that is cut
/// short has whole schedules; no state is made twice, and what is returned when nothing cuts it
/// short depends on `width` and `enough` alone.
BeamResult beam_search(const ProcPtr& kernel, const SearchSpace& space, const BeamContext& context,
                       const BeamOptions& options);

}  // namespace exotune
