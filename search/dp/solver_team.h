#pragma once
// SolverTeam: several threads that solve one Spec together. Start at SpecSolver::solve (dp.h),
// which makes one when asked for threads.
//
// Every thread asks the whole question, of one memo that all fill. What keeps them apart is a note
// of the Specs that some thread is working out: one that meets such a Spec goes on with its other
// actions and comes back at the end, when the answer mostly stands in the memo. Which plans are the
// cheapest does not depend on the order in which actions are looked at (ties go to the one that the
// list of actions names first), so the answer is the one of a single thread.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "search/dp/memo.h"

namespace exotune {

/// Which Specs are being worked out, by any thread. Two of one hash are mistaken for each other,
/// which costs time only.
class BusySpecs {
 public:
  /// Relaxed is enough: a note that comes late costs work twice, never a wrong answer.
  void begin(const Spec& spec) { count(spec).fetch_add(1, std::memory_order_relaxed); }
  void end(const Spec& spec) { count(spec).fetch_sub(1, std::memory_order_relaxed); }
  bool busy(const Spec& spec) { return count(spec).load(std::memory_order_relaxed) > 0; }

 private:
  std::atomic<int>& count(const Spec& spec) { return counts_[SpecHash()(spec) % counts_.size()]; }
  std::array<std::atomic<int>, 1 << 14> counts_{};
};

/// What the solvers of a team have in common beside their memo. Shared by reference; everything in
/// it is made for several threads.
struct SharedWork {
  BusySpecs busy, relaxed_busy;
  BoxMemo relaxed;  // of the relaxed problem, for floors
  std::atomic<bool> done = false;
};

class SpecSolver;
struct SolverOptions;

/// Made once a solver and used for each question; helpers start and end with run().
class SolverTeam {
 public:
  /// `options.threads` - 1 helpers, each with an action space of its own.
  SolverTeam(ActionSpace& space, SpecMemo& memo, const SolverOptions& options);
  ~SolverTeam();

  SharedWork& shared() { return shared_; }
  /// Runs `lead` in this thread while the helpers work on the same question; they stop when it
  /// returns.
  void run(const Spec& spec, const Limits& limits, const std::function<void()>& lead);
  const std::vector<std::unique_ptr<SpecSolver>>& helpers() const { return helpers_; }

 private:
  SpecMemo& memo_;
  SharedWork shared_;
  std::vector<std::unique_ptr<ActionSpace>> spaces_;
  std::vector<std::unique_ptr<SpecSolver>> helpers_;
};

}  // namespace exotune
