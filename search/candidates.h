#pragma once
// Candidates: what proposed schedules come to as code, and the trials of it. Start at
// Candidates::trials_of.
//
// A candidate stays tied to the state it was made from: by its id the others find the procedure
// and the schedule again.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/proposals.h"
#include "search/trials.h"

namespace exotune {

class Candidates {
 public:
  /// All must outlive this; `measured` is what has been run so far.
  Candidates(TuningState& run, const Proposals& proposals, const Bench& bench,
             const std::vector<Trial>& measured);

  /// The nest as written, alone; nothing when it has no C.
  std::optional<Trial> as_written();
  /// The trials of these states, those that become whole schedules with C; the others are counted
  /// as refused. Emitted in parallel but for parts of a user's script.
  std::vector<Trial> trials_of(const std::vector<size_t>& states);
  /// The same code in the other ways to compile it that are not among the trials yet.
  std::vector<Trial> otherwise(const Trial& usual);
  /// The same schedule made machine code by another compiler than the target's, which did not make
  /// it; nothing where there is none.
  std::optional<Trial> elsewhere(const Trial& uncompiled);
  /// It need not be measured again with the other states.
  void note_as_written_ran() { written_ran_ = true; }

  /// Of a trial that was made here.
  const ProcPtr& procedure(const Trial& t) const { return procs_.at(t.candidate.id); }
  const BeamState& state(const Trial& t) const { return proposals_.states()[state_index(t)]; }
  size_t state_index(const Trial& t) const { return state_of_.at(t.candidate.id); }
  bool is_as_written(const Trial& t) const { return proposals_.is_as_written(state(t)); }
  bool is_for_large(const Trial& t) const { return proposals_.is_for_large(state(t)); }

  /// The trial is the result.
  void take(const Trial& t);
  /// BeamState::form of the result; 0 where there is none.
  size_t form_of_result() const { return form_of_result_; }
  /// Nothing ran, or nothing in time: the result is the cheapest schedule by the cost model that
  /// has C and was not found wrong.
  void take_cheapest();

 private:
  // What a state comes to: a trial, or why not.
  struct Emission {
    std::optional<Trial> trial;
    ProcPtr proc;
    std::optional<StepRefusal> refusal;
  };
  Emission emit(const BeamState& state) const;
  std::optional<Trial> keep(Emission made, size_t state);
  Trial compiled(const Trial& usual, const Compilation& how);
  static bool is_for_plain_loops(const Compilation& how);
  /// Are some arguments of its procedure integers of fewer than 32 bits?
  bool has_narrow(const Trial& trial) const;
  bool gave_up(const std::string& compiler) const;

  TuningState& run_;
  const Proposals& proposals_;
  const Bench& bench_;
  const std::vector<Trial>& measured_;
  std::map<std::string, ProcPtr> procs_;    // by candidate
  std::map<std::string, size_t> state_of_;  // candidate -> index of its state
  bool written_ran_ = false;
  size_t form_of_result_ = 0;
};

}  // namespace exotune
