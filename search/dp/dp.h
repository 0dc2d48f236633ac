#pragma once
// The dynamic program: the k cheapest plans of a Spec under the affine cost. Start at SpecSolver.
//
// Top-down with a memo. A question carries the cost above which the asker does not care; what is
// left out because of it is remembered as such, so pruning never changes an answer (memo.h). Floors
// come from a relaxed problem (relaxed_floor.h); the bound starts just above the root's floor and
// rises until enough plans lie below it, so that little but near-optimal Specs is worked out.
// Deterministic, whatever the number of threads. A run stopped by `interrupted` keeps what it
// solved. Nothing in here is trusted: a plan counts only after replay through the core (replay.h).
#include <atomic>
#include <functional>
#include <optional>
#include <unordered_set>

#include "search/dp/memo.h"

namespace exotune {

/// What the threads of one question may spend. Counted in Specs, not in time, so that the answer of
/// one thread depends on the question alone; memory is a limit of this machine.
class SolverBudget {
 public:
  SolverBudget() = default;
  SolverBudget(int64_t most_specs, int64_t most_bytes)
      : most_specs_(most_specs), most_bytes_(most_bytes) {}
  /// Notes Specs that were solved; false when there is nothing left.
  bool spend(int64_t specs);
  /// Where no plan is near the floor there is mostly none: as many again may be solved, no more.
  void give_up_early();

  bool out_of_specs() const { return spent_ >= most_specs_; }
  bool out_of_memory() const { return out_of_memory_; }
  bool gave_up() const { return gave_up_; }

 private:
  std::atomic<int64_t> spent_ = 0, most_specs_ = INT64_MAX;
  int64_t most_bytes_ = INT64_MAX;
  std::atomic<bool> out_of_memory_ = false, gave_up_ = false;
};

struct SolverOptions {
  int k = 1;                          // plans wanted
  int threads = 1;                    // that solve together (solver_team.h): the same answers
  bool near_plans = false;            // fewer than k will do: those as near the floor as the best
  bool prune = true;                  // bounds and floors; off: every action is evaluated
  bool relaxed_floor = true;          // with `prune`: floors from the relaxed problem
  bool widest_limits_first = true;    // answer at the machine's limits, which makes larger boxes
  std::function<bool()> interrupted;  // may be empty; asked by every thread
  SolverBudget* budget = nullptr;     // null: no limit
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
  // of all threads
};

class RelaxedFloor;
class SolverTeam;
struct SharedWork;
class BusySpecs;

class SpecSolver {
 public:
  /// `shared`: as one of a team.
  SpecSolver(ActionSpace& space, SpecMemo& memo, SolverOptions options = {},
             SharedWork* shared = nullptr);

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

  /// As solve, by this thread only, of a canonical Spec and limits.
  std::optional<MemoValue> solve_alone(const Spec& spec, const Limits& limits);
  /// Specs that another thread is working out come last. May be null.
  void avoid(BusySpecs* busy) { busy_ = busy; }

 private:
  struct Interrupted {};
  int64_t floor(const Spec& spec, const Limits& limits);
  const MemoValue* ask(const Spec& spec, Limits limits, int64_t bound);
  MemoValue work_out(const Spec& spec, const Limits& limits, int64_t bound);
  // The best so far, each with its action's place in the list of actions.
  struct Ranking {
    MemoValue value;
    std::vector<int64_t> order;
    int64_t next = kNoCost;  // what was left out because of the bound costs at least this much
    bool before(const PlanCost& cost, int64_t order, size_t than) const;
    void keep(const Alternative& a, int64_t order, int k);
  };
  void leave_out(int64_t at_least, Ranking& from);
  // An action, its place in the list of actions, and what it and its parts cost at least.
  struct Prospect {
    Expansion expansion;
    int64_t order = 0, total = 0;
    std::array<int64_t, kMaxParts> floors{};
  };
  /// Nothing when it is infeasible or costs more than `cutoff` at the first look.
  std::optional<Prospect> look(const Expansion& e, int64_t order, int64_t cutoff, Ranking& into);
  /// False: left for later, another thread is at it.
  bool try_prospect(const Prospect& prospect, const Limits& limits, int64_t bound, bool may_leave,
                    Ranking& into);

  ActionSpace& space_;
  SpecMemo& memo_;
  SolverOptions options_;
  SolverStatistics statistics_;
  std::unique_ptr<SolverTeam> team_;
  BusySpecs* busy_ = nullptr;
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
