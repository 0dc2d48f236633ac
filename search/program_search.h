#pragma once
// Program search: schedules for any procedure, from what its outline shows. Start at
// ProgramSearch.
//
// A procedure is taken apart: imperfect loops are distributed, each nest becomes a part of its own
// (loops whose iterations must come in order are walked into), every part is solved by itself, and
// the parts' schedules are put together again. A part that is one nest is tried in every legal loop
// order, with its operands copied transposed, in the spaces that know its form (contractions, sums,
// rows) and with the finishes that every nest can have; a part may again fall into parts. States
// compare after their finish, by the static cost: structure is judged before numbers.
//
// Nothing depends on a name. Every refused step is counted with its reason. Deterministic, at any
// number of threads.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "search/beam.h"
#include "search/move_tally.h"

namespace exotune {

struct ProgramSearchRequest {
  const Target* target = nullptr;
  std::vector<TargetLevel> levels;
  const BeamContext* context = nullptr;
  int beam = 16;  // width, in the spaces of known forms
  int keep = 64;  // schedules returned
};

/// Until when one run of the search works.
struct ProgramDeadlines {
  Deadline structures;  // no more structures and finishes then; what was found becomes schedules
  Deadline whole;       // schedules that are not made by then are left out
};
/// Most of the time for structures, the rest for making schedules of what was found.
ProgramDeadlines deadlines_within(const Deadline& whole);

struct ProgramSearchResult : MoveTally {
  std::vector<BeamState> states;  // cheapest first, structures in turn
  bool cut_short = false;         // the time was over before all structures had a turn
};

class ProgramSearch {
 public:
  /// What the request refers to must outlive this.
  explicit ProgramSearch(const ProgramSearchRequest& request);
  ~ProgramSearch();

  /// `start` as the tuner begins (its sizes fixed): its lines stand before those found.
  ProgramSearchResult run(const BeamState& start, const ProgramDeadlines& until = {});

  /// The fastest schedule of each part together, from measured seconds of whole programs (by
  /// BeamState::text_hash) that differ in one part each; only what was not among the states yet.
  std::vector<BeamState> recombine(const std::map<std::string, double>& seconds,
                                   const Deadline& deadline = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Is the procedure one nest, all of which may change places? Others are for the program search
/// alone.
bool is_one_nest(const ProcPtr& p);

}  // namespace exotune
