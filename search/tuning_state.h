#pragma once
// What the phases of one run of the tuner share: what was asked, the time there is, what is to be
// computed, and the result as far as it is known. Start at TuningState. The phases, in the order in
// which they work: Proposals, Candidates, Measuring, FinalRound.
#include <string>

#include "core/base/deadline.h"
#include "runners/arena.h"
#include "runners/runner.h"
#include "search/phase_budget.h"
#include "search/problem.h"
#include "search/tuner.h"

namespace exotune {

/// What measures: all that a phase sees of the machine that candidates run on. Nothing here is
/// owned.
struct Bench {
  Runner* runner = nullptr;
  Arena* arena = nullptr;
  TargetToolchain toolchain;  // what the candidates' C is compiled with
};

/// Why a phase ended whose deadline is over.
StopReason stop_of(const Deadline& d);

/// One for each run, passed by reference from phase to phase. What it refers to outlives it.
struct TuningState {
  TuningState(const TuneRequest& request, Store& store, const TuneHooks& hooks,
              const TimeSource& clock);

  /// Tells the caller of the tuner, if it wants to know.
  void report(const std::string& phase, int done, int planned);
  /// Enters a step that the core refused, by its operator, the first with its text.
  void count(const StepRefusal& refusal);
  /// 10^9 of what the formula counts, a second; 0 without a formula.
  double per_second(const SizeFormula& formula, double seconds) const;
  void note_speed(double seconds);  // of the winner
  /// The elements of whose multiply-adds the peak is the roof: where the target has instructions
  /// that sum groups of narrower ones, those, if its text knows their peak. Nothing: no roof is
  /// known.
  std::optional<ElementType> peak_type() const;
  bool has_own_peak() const;  // of the kernel's precision itself
  /// Sizes besides the tuned one that a kernel for every size should be good at: those it lists.
  std::vector<SizeBinding> listed_sizes() const;
  /// The largest of them by operations, where that is another matter than the tuned one.
  std::optional<SizeBinding> large_sizes() const;
  /// Seconds, of the clock that was given: tests give one of their own.
  double since(double start) const { return clock.seconds() - start; }

  // The caller's.
  const TuneRequest& request;
  Store& store;
  const TuneHooks& hooks;
  const TimeSource& clock;
  const Deadline deadline;  // of everything
  const PhaseBudget budget;
  SizeBinding sizes;            // of every size: as fixed, else the representative one
  TuningProblem problem;        // arguments, inputs and what must come out of them
  bool can_measure = false;     // it is known what must come out
  bool written_is_far = false;  // it was found in another order of the loops than as written
  double expected_seconds = 0;  // that finding it took
  TuneResult result;            // as far as it is known
  int ok = 0, bad = 0;          // trials
  double best_seconds = 0;      // of one call; 0: nothing was ok yet
};

}  // namespace exotune
