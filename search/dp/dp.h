#pragma once
// The dynamic program: the k cheapest plans of a Spec under the affine cost. Start at SpecSolver.
//
// Top-down with a memo. A question carries the cost above which the asker does not care; what is
// left out because of it is remembered as such, so pruning never changes an answer (memo.h). Floors
// come from a relaxed problem (relaxed_floor.h); the bound starts just above the root's floor and
// rises until enough plans lie below it, so that little but near-optimal Specs is worked out.
// Deterministic, whatever the number of threads. A run stopped by `interrupted` keeps what it
// solved. Nothing in here is trusted: a plan counts only after replay through the core (replay.h).
#include <functional>
#include <optional>
#include <unordered_set>

#include "search/dp/memo.h"
#include "search/dp/plan.h"
#include "search/dp/ranking.h"
#include "search/dp/solver_budget.h"

namespace exotune {

/// What is asked for and how hard to try. Only `k`, `near_plans` and the budget change the answer;
/// all else is how it is found.
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

/// Counted per solver and added up over the team; for reports and the tests of pruning.
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

/// One question at a time; answers to earlier ones stay in the memo. All arguments are borrowed and
/// must outlive it.
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
  /// A bound from below, of the relaxed problem or of kernels' rates; 0 when floors are off.
  int64_t floor(const Spec& spec, const Limits& limits);
  /// The memo's answer, or works it out; the entry is complete to `bound` at least.
  const MemoValue* ask(const Spec& spec, Limits limits, int64_t bound);
  /// One Spec: expands it, looks at each action, and keeps the best.
  MemoValue work_out(const Spec& spec, const Limits& limits, int64_t bound);
  /// Notes that something of at least this cost was not looked at, which bounds what the answer may
  /// claim.
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
  int64_t cutoff_of(const Ranking& found, int64_t bound) const;
  bool try_prospect(const Prospect& prospect, const Limits& limits, int64_t bound, bool may_leave,
                    Ranking& into);

  // What is known of each part, cheapest first.
  using PartsFound = std::array<const std::vector<Alternative>*, kMaxParts>;
  void keep_ways(const Prospect& prospect, const PartsFound& found, const Limits& limits,
                 int64_t bound, Ranking& into);

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

}  // namespace exotune
