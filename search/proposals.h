#pragma once
// Proposals: the schedules that one run of the tuner looks at, from the dynamic program, the beam
// and the program search, in the order in which they are worth measuring. Start at
// Proposals::search; around() and recombine() add to them what measuring suggests.
//
// Runs nothing: the verified core makes the schedules, models put them in order.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/beam.h"
#include "search/neighbours.h"
#include "search/program_search.h"
#include "search/rehearsal.h"
#include "search/shared_loops.h"
#include "search/starts.h"
#include "search/surroundings.h"
#include "search/tuning_state.h"

namespace exotune {

/// The states that it holds only grow, and keep their numbers: the rest of a run speaks of a
/// schedule by its place here. Each procedure is there once, whatever way led to it. Interrupts and
/// deadlines end a search early; what was found until then counts.
class Proposals {
 public:
  /// The first proposal is the kernel as it was written, its sizes fixed, its calls in place and
  /// its arithmetic as cheap as it gets; the second, where that differs, without the last two.
  /// `run` must outlive this.
  explicit Proposals(TuningState& run);

  /// All that is found without measuring, added to the states; says in the result why it ended.
  void search();

  const std::vector<BeamState>& states() const { return states_; }
  const BeamState& start() const { return states_.front(); }
  /// What the user wrote, where the start is not that any more; null: it is.
  const BeamState* untouched() const { return has_untouched_ ? &states_[1] : nullptr; }
  bool is_as_written(const BeamState& s) const {
    return s.text_hash == start().text_hash ||
           (has_untouched_ && s.text_hash == untouched()->text_hash);
  }
  /// The schedule that a state is, whatever it was made from. Throws what a user's lines throw.
  WholeSchedule whole(const BeamState& s) const;
  /// Planned for the largest size that a kernel for any size lists.
  bool is_for_large(const BeamState& s) const { return for_large_.count(s.text_hash) > 0; }
  /// States by the cost model, the cheapest first.
  std::vector<size_t> cheapest_first() const;
  /// The time for proposing was over before everything was proposed.
  bool cut_short() const { return deadline_.over(); }

  /// Adds up to `most` schedules that stand around those that measured well: other sizes of blocks,
  /// other registers, other distances. Adds none when the space around is exhausted.
  void add_around(const std::vector<BeamState>& good, size_t most, const Deadline& deadline);
  /// Adds the fastest parts of whole programs together, by the seconds of whole programs (by
  /// BeamState::text_hash). False: the proposals are no programs of parts.
  bool add_recombined(const std::map<std::string, double>& seconds, const Deadline& deadline);
  /// Adds the kernel scheduled by these steps. False: the core refuses one, or it is there already.
  bool add_schedule(const Steps& steps);

 private:
  /// What is asked of the nest before anything is tried.
  struct Form {
    bool tiled = false;       // it is in tiles already
    bool known = false;       // of a kind that the beam has moves for
    bool neighbours = false;  // and results read neighbours, or sums go to neighbours' results
  };
  /// By where they come from, in the order in which they take turns.
  struct FoundFamilies {
    std::vector<BeamState> plans, large_plans, narrow, programs, streamed, around, beams;
    std::vector<std::vector<BeamState>> of_starts;
  };
  Form form() const;
  void search(FoundFamilies& found);
  /// From each of the request's starts, in an equal share of the time.
  void search_starts(FoundFamilies& found);
  ProgramSearchRequest program_request() const;
  /// With threads the first of them shared out (shared_out), then all as they are.
  std::vector<BeamState> for_threads(std::vector<BeamState> programs) const;
  /// What is searched: the kernel, or the part of a user's schedule that is left open.
  ProcPtr asked() const;
  /// Are the sizes open, and steps at open sizes slow enough to try them at fixed ones first?
  bool worth_rehearsing() const;
  void rehearse();
  /// Fills nest_, with the orders that operands packed ahead may have.
  void read_nest();
  // Each is one source of schedules, made by the core: none of them adds to the states itself.
  std::vector<BeamState> plans();  // of the dynamic program
  std::vector<BeamState> plans_for_large();
  /// Plans made of the kernel; refusals are counted.
  std::vector<BeamState> performed_plans(const DpPlans& found);
  /// Of the search over whole programs, in a share of the time that is left.
  std::vector<BeamState> programs(double share = 1);
  /// The target of half the width, where rows are that short and there is one.
  TargetPtr narrower() const;
  /// As programs(), with vectors of half the width.
  std::vector<BeamState> narrow_programs();
  std::vector<BeamState> beams();  // with threads, one beam for each loop they may share
  std::vector<BeamState> around(const std::vector<BeamState>& good, size_t most,
                                const Deadline& deadline);
  TargetFigures figures_here() const;
  Deadline plan_deadline() const;
  DpRequest dp_request();
  int trials_in_time() const;
  BeamResult beam(const Nest& nest, const SharedLoop* shared);
  /// The step that sends results past the caches; empty where they are small or nothing does.
  Steps streaming() const;
  /// Bytes; 0: the machine has no such cache.
  int64_t second_cache() const;
  /// Is an argument that is read larger than the second cache?
  /// Is more of an argument read than so many bytes?
  bool reads_beyond(int64_t cache) const;
  /// Where rows come from beyond the first cache, and the CPU has such vectors, too.
  std::optional<HalfVectors> half_vectors();
  std::vector<BeamState> streamed(const FoundFamilies& found);
  /// As surroundings_of; where there is a rehearsal, of and among the rehearsed.
  Surroundings surroundings(const std::vector<BeamState>& good, size_t most,
                            const Neighbourhood& where, const Deadline& deadline);
  /// The best of what was rehearsed at fixed sizes, made of the kernel itself.
  std::vector<BeamState> performed(std::vector<BeamState> rehearsed, const Deadline& deadline);
  /// Those that became schedules; refusals are counted.
  std::vector<BeamState> kept(std::vector<Extended> extended);
  bool is_scheduled(const std::vector<BeamState>& states) const;
  /// Each procedure once, in the order given.
  void add(std::vector<BeamState> more);

  TuningState& run_;
  const TuneRequest& request_;
  const std::vector<TargetLevel> levels_;  // of this machine
  BeamContext context_;
  Nest nest_;  // of the kernel as it was written
  std::vector<BeamState>
      states_;  // the start, then proposals in the order they are worth measuring
  bool has_untouched_ = false;
  std::set<std::string> seen_;              // hashes of their procedures
  std::optional<Rehearsal> rehearsal_;      // where sizes are open
  std::set<std::string> seen_rehearsed_;    // as seen_, of procedures at fixed sizes
  std::set<std::string> for_large_;         // by text_hash: see is_for_large
  Deadline deadline_;                       // of the search
  std::unique_ptr<ProgramSearch> program_;  // null: nobody asked it
  TargetPtr half_;                          // see narrower()
  TargetPtr neighbour_width_;               // see half_vectors()
  BeamContext half_context_;
  std::unique_ptr<ProgramSearch> narrow_program_;
  Starts starts_;
};

}  // namespace exotune
