#pragma once
// Measuring: the proposals are run, the most promising first, and what is measured says what to
// propose next. Start at Measuring::run.
//
// Sees the machine through its Bench alone. Each trial is in the store before the next batch
// starts.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/candidates.h"
#include "search/proposals.h"
#include "search/trials.h"

namespace exotune {

/// Owns the trials of a run and their order; what is measured is handed back to the proposals,
/// whose models may have been wrong. Ends by budget, by number, or when nothing is left to try, and
/// says which in the result.
class Measuring {
 public:
  /// All must outlive this.
  Measuring(TuningState& run, Proposals& proposals, const Bench& bench);

  /// Before there is anything else, so that a run never ends with nothing; what it takes bounds
  /// the others. Where one call is too long for its share of the time, the others come first.
  void as_written();
  /// All that the request allows for: the proposals, parts of programs together, what stands around
  /// the fastest, and other ways to compile these. Says in the result why it ended.
  void run();

  /// One more schedule, measured like the others. Nothing: it is refused, or not ok in time. Trials
  /// that ranked() gave before are no more.
  std::optional<Trial> one_more(const Steps& steps, const Deadline& deadline);

  /// A proposal, compiled so, becomes the result: measured where it is known what must come out.
  /// False: it has no C, or is wrong.
  bool take(size_t state, const Compilation& how);

  /// Those that are ok, the fastest first.
  std::vector<const Trial*> ranked() const;
  /// Something that is not slowness, of a call or of the compiler, was the end of every candidate.
  bool found_wrong() const;
  /// A call of the nest as written takes longer, or it was stopped for taking too long.
  bool written_takes(double seconds) const;
  /// Seconds that a schedule took so far, compiled, checked and timed; what one more will take.
  double seconds_each() const;
  /// What came of each of the request's starts, after the result is known.
  std::vector<ViewOutcome> outcomes_of_starts() const;
  /// The fastest trial, as it was measured, is the result; nothing when none is ok.
  void take_fastest();
  Candidates& candidates() { return candidates_; }

 private:
  /// Is there an ok trial that is more than the nest as written?
  bool found_schedule() const;
  bool some_were_late() const;
  /// Measures neighbours of the fastest, as long as they win.
  void refine(size_t most, size_t kept, const Deadline& deadline);
  /// When no schedule was ok: the cheapest by the model again, with more time.
  void rescue();
  /// What other compilers make of the nest as written, unless that is known; `in_turn`: one after
  /// the other, as long as there is time for one more.
  void written_otherwise(const Deadline& deadline, bool in_turn = false);
  /// The fastest again, by the other compilers and their flags.
  void compile_otherwise(const Deadline& deadline);
  /// By BeamState::text_hash, for whole programs.
  std::map<std::string, double> seconds_of_states() const;
  /// A semifinal: those within the noise of the best are timed side by side.
  size_t wide_field() const;
  size_t top() const;            // of the shoot-out
  bool calls_are_short() const;  // so that comparing costs little beside compiling
  void compare_fastest(size_t most, int most_rounds, const Deadline& deadline);
  /// Semifinals of fewer and fewer.
  void narrow_field(const Deadline& deadline);
  std::vector<BeamState> fastest() const;
  /// As many as compile at once and still leave time to look at the clock.
  size_t batch_size(const Deadline& deadline) const;
  /// False when the time was over first.
  bool measure_states(size_t first, size_t most, const Deadline& deadline);
  void compiled_elsewhere(size_t first, int planned, const Deadline& deadline);
  /// Is the state of a form of the kernel whose schedules, some of them measured, are all far
  /// behind the fastest?
  bool is_behind(size_t state) const;
  void measure(std::vector<Trial> trials, int planned, const Deadline& deadline,
               double timeout_seconds, bool rescue);
  /// Tells the progress and the store.
  void note_best(const Trial& t);

  TuningState& run_;
  const TuneRequest& request_;
  Proposals& proposals_;
  const Bench& bench_;
  TrialRun measured_;
  Candidates candidates_;
  double schedules_seconds_ = 0;  // without the nest as written, which may take as long as all
  int schedules_ = 0;
  double comparing_seconds_ = 0;  // of comparisons side by side
  size_t compared_ = 0;           // schedules in them
  std::set<size_t> compiled_;     // states whose other compilations were measured
};

}  // namespace exotune
