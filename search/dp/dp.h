#pragma once
// The dynamic program: the k cheapest plans of a Spec under the affine cost. Start at SpecSolver.
//
// Top-down with a memo. A question carries the cost above which the asker does not care; what is
// left out because of it is remembered as such, so pruning never changes an answer (memo.h). Floors
// come from a relaxed problem (relaxed_floor.h); the bound starts just above the root's floor and
// rises until enough plans lie below it, so that little but near-optimal Specs is worked out.
// Deterministic. A run stopped by `interrupted` keeps what it solved. Nothing in here is trusted: a
// plan counts only after replay through the core (replay.h).
#include <functional>
#include <optional>
#include <unordered_set>

#include "search/dp/memo.h"

namespace exotune {

struct SolverOptions {
  int k = 1;                          // plans wanted
  bool prune = true;                  // bounds and floors; off: every action is evaluated
  bool relaxed_floor = true;          // with `prune`: floors from the relaxed problem
  bool widest_limits_first = true;    // answer at the machine's limits, which makes larger boxes
  std::function<bool()> interrupted;  // may be empty
};

/// A complete plan: each node with the Spec it implements.
struct PlanNode {
  Spec spec;
  Limits limits;
  DpAction action;
  PlanCost cost;
  std::vector<PlanNode> parts;
  int main = 0;                // the part that the plan goes on with
  std::vector<int64_t> times;  // of each part
};

struct SolverStatistics {
  int64_t solved = 0;    // Specs and limits worked out
  int64_t expanded = 0;  // actions looked at
  int64_t pruned = 0;    // of them, not evaluated to the end
  int64_t relaxed = 0;   // relaxed Specs and limits worked out, for floors
};

class RelaxedFloor;

class SpecSolver {
 public:
  SpecSolver(ActionSpace& space, SpecMemo& memo, SolverOptions options = {});

  /// The best plans' first steps and costs, cheapest first; empty: none exists. Nothing when
  /// interrupted. The Spec is made canonical.
  std::optional<MemoValue> solve(Spec spec, Limits limits);
  std::optional<MemoValue> solve(const Spec& spec) { return solve(spec, space_.codes().all()); }

  /// The best plan's cost, kNoCost when none exists; nothing when interrupted.
  std::optional<int64_t> cost(Spec spec, Limits limits);

  /// The plan behind alternative `rank` of a solved Spec.
  PlanNode plan(Spec spec, Limits limits, int rank = 0);

  SolverStatistics statistics() const;
  ~SpecSolver();

 private:
  struct Interrupted {};
  int64_t floor(const Spec& spec, const Limits& limits);
  const MemoValue* ask(const Spec& spec, Limits limits, int64_t bound);
  MemoValue work_out(const Spec& spec, const Limits& limits, int64_t bound);
  void try_expansion(const Expansion& e, const Limits& limits, int64_t bound, MemoValue& into);

  ActionSpace& space_;
  SpecMemo& memo_;
  SolverOptions options_;
  SolverStatistics statistics_;
  std::unique_ptr<RelaxedFloor> relaxed_floor_;
  std::unordered_set<Spec, SpecHash> open_;  // being worked out at the machine's limits
  MemoValue nothing_below_;                  // answer of a question settled by its floor
};

/// What the plan costs by the cost model alone, without the memo.
PlanCost cost_of(const PlanNode& plan, ActionSpace& space);

/// "tile 0 by 64 ..." one line per node, for people.
std::string str(const PlanNode& plan, ActionSpace& space);

/// "tile 0 by 64; move $1 to L1[0,1]; ..." of the plan's main line.
std::string outline(const PlanNode& plan, ActionSpace& space);

/// The cost of one action from its parts' costs.
PlanCost combine(const Expansion& e, const std::array<const PlanCost*, kMaxParts>& parts,
                 const LimitCodes& codes);

}  // namespace exotune
