#pragma once
// The tuner: one kernel at one size on one target, from the plain loop nest to a measured winner.
// Start at tune().
//
// It proposes schedules (beam over library operators), replays each through the verified core,
// checks and times every candidate with a Runner, keeps every trial in the Store, and lets the best
// meet each other and the peers in a paired shoot-out. A trial that the store already holds is
// never run again, so an interrupted search is resumed by asking for it again.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/library/step.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"
#include "runners/machine_peak.h"
#include "runners/runner.h"
#include "runners/shootout.h"
#include "search/compilation.h"
#include "search/dp/dp_plans.h"
#include "search/figures.h"

namespace exotune {

enum class Effort : uint8_t { kEstimate, kMeasure, kPatient, kExhaustive };  // FFTW's words

/// Where schedules come from: the dynamic program's cheapest plans, the beam over operators, both
/// of these also from views found by rewriting (search/views), or all of it, the views where they
/// promise something. A nest that the dynamic program cannot read is left to the beam.
enum class Strategy : uint8_t { kDp, kBeam, kEqsat, kAll };
const char* name_of(Strategy s);

/// A whole schedule: what the found steps made together with the user's own, proved.
struct WholeSchedule {
  ProcPtr proc;
  std::string script;
};

/// A schedule that a user began; the search goes on from there.
struct PartialSchedule {
  ProcPtr proc;  // what is searched: the procedure as the user's lines left it, or a part of it
  /// Puts found steps where they belong and runs the whole script. Throws what a step throws: a
  /// schedule that does not hold together is refused.
  std::function<WholeSchedule(const Steps&)> whole;
  std::vector<ScriptConstraint> constraints;  // of procedures that descend from `proc`
};

/// A finished schedule that meets the found ones in the shoot-out, to see what those are worth.
struct Rival {
  std::string name;
  ProcPtr proc;
};

/// Everything that a run depends on, beside the store: the same request on the same machine makes
/// the same proposals. Only kernel, proc, target and machine have to be given.
struct TuneRequest {
  KernelEntry kernel;  // for a user's own file: name, file, proc and flops may be bare
  ProcPtr proc;        // the unscheduled proc
  /// Sizes that are fixed: the result is a kernel for exactly these. Sizes it does not name stay
  /// symbolic and are measured at `representative`.
  SizeBinding sizes;
  SizeBinding representative;  // a value for every size; used where `sizes` has none
  TargetPtr target;
  Machine machine;
  Effort effort = Effort::kMeasure;
  int beam = 16;                     // states kept per stage
  int trials = 200;                  // candidates measured at most
  double time_budget_seconds = 240;  // for everything, from search to the finals over sizes
  double timeout_seconds = 2;        // per candidate
  int top_k = 8;                     // finalists of the shoot-out
  int rounds = 15;                   // rounds of the shoot-out
  int jobs = 2;                      // compilers at once, threads of the dynamic program
  int threads = 1;                   // that the kernel may use; its peers get as many
  uint64_t seed = 1;
  bool with_peers = true;
  bool fresh = false;          // measure again what the store already holds
  std::string work_directory;  // "" = temporary
  Strategy strategy = Strategy::kAll;
  int dp_plans = 8;                   // of the dynamic program
  int64_t dp_specs = kDpSpecs;        // that it may solve; then the beam goes on alone
  CostBasis costs = CostBasis::kAll;  // figures that the models reckon with
  std::string memo_file;              // what the dynamic program solved; "" = not kept
  std::optional<PartialSchedule> partial;
  std::vector<Rival> rivals;
  /// Forms of `proc` at its `sizes`, proved equal, that the search starts from besides the nest as
  /// written: views of its operands (search/views), sums in another order.
  std::vector<WholeSchedule> starts;
  /// A form of `proc` at its `sizes`, proved equal, with so many fewer operations that the nest as
  /// written is worth no call: what must come out is computed with it, and where there are
  /// `starts`, which are of such forms, nothing else is searched. Null: the nest as written tells.
  ProcPtr shorter;
};

/// What a progress line shows; told at every candidate and stage.
struct Progress {
  int done = 0, planned = 0, ok = 0, bad = 0;
  double best = 0;  // GFLOP/s (or GB/s when the kernel has no flops)
  double percent_of_peak = 0;
  std::string phase;  // "search", "measure", "shoot-out"
};

/// Why the search ended.
enum class StopReason : uint8_t { kComplete, kTrials, kTimeBudget, kInterrupted };
const char* name_of(StopReason r);

/// What the search did, for reports and `explain`.
struct TuneStatistics {
  int states = 0;                              // schedules made
  int refused = 0;                             // steps the core refused
  int duplicates = 0;                          // schedules whose proc was seen before
  int measured = 0, reused = 0;                // trials run now, trials found in the store
  std::map<std::string, int> refusals;         // by operator
  std::map<std::string, std::string> reasons;  // the first message of each of them
  std::map<std::string, int> causes;           // of bad trials, by status
  // Before the search: what must come out, the peak, the nest as written by every compiler.
  double prepare_seconds = 0;
  double search_seconds = 0, measure_seconds = 0, shootout_seconds = 0;
  std::string first_refusal;  // text of one, for `explain`
  std::optional<DpPlans> dp;  // nothing when it was not asked
  int plans_refused = 0;      // of its plans
  int neighbours = 0;         // schedules tried around good ones
  bool cut_short = false;     // the time for finding structures was over before all had a turn
};

/// One line of the table of others.
struct PeerRow {
  std::string name;
  double gflops = 0;  // 0 when the kernel has no formula for its operations
  Ratio ratio;        // winner's speed over this peer's: above 1, we are faster
};

/// What a simulator or a board counted; never compared with seconds or with another kind.
struct CycleCount {
  SampleUnit unit = SampleUnit::kModelCycles;
  double count = 0;          // of the winner
  double as_written = 0;     // of the nest as written; 0 when it was not measured
  std::string written_at;    // the smaller sizes by which it was reckoned; "": it ran at these
  double share_of_peak = 0;  // of the target's text; 0 when it has none
  /// What the winner's cycles went into, where the runner tells and it ran now.
  std::vector<std::pair<std::string, double>> spent;
};

/// What the search from one of the request's `starts` came to.
struct ViewOutcome {
  std::string text;                // "B_view[k, j] = B[j, k]"; of whoever made the start
  std::string proof;               // of the view: "by replay"; likewise
  std::string script;              // the fastest schedule; "": none
  std::string trouble;             // why there is none
  double gflops = 0, seconds = 0;  // of it, as it was measured among the others
  bool chosen = false;             // the winner is one of its schedules
};

/// What a run comes to; every figure of speed is of this run, on this machine.
struct TuneResult {
  ProcPtr winner;      // scheduled and proved; null: no valid candidate
  std::string script;  // .sched text that makes it from the kernel
  std::string candidate_id;
  Steps steps;  // of it, those that were found
  TrialKey key;
  ProofLevel proof = ProofLevel::kProved;
  bool as_written = false;        // the winner is the nest itself
  Compilation compilation;        // how its C is compiled
  double seconds = 0;             // median per call
  double gflops = 0, gbytes = 0;  // per second, from the kernel's formulas; 0 when it has none
  double peak_gflops = 0;         // measured on this machine now, of all threads
  bool own_peak = false;          // it is of multiply-adds in the kernel's precision, no narrower
  double memory_seconds = 0;      // of moving what a call must move, beside the winner; 0: unknown
  std::vector<PeerRow> peers;     // of the same run
  std::vector<PeerRow> rivals;    // of the same run
  PeerReport peer_report;
  std::vector<std::string> missed;  // peers and rivals that were not timed, each with the reason
  TuneStatistics statistics;
  StopReason stop = StopReason::kComplete;
  std::optional<CycleCount> cycles;   // on a machine that is not this one (runner_tuning.h)
  std::vector<std::string> failures;  // causes of bad trials, first of each kind
  std::vector<ViewOutcome> views;     // one for each of the request's starts
  /// Where calls are long (few_rounds.h): the sizes at which it was searched and met its peers and
  /// rivals. Empty: those of the request.
  SizeBinding searched_at;
  bool timed_there = false;  // its speed is of those sizes: there was no time for the request's
};

/// The sizes that the result's speed is of.
const SizeBinding& sizes_of_speed(const TuneRequest& request, const TuneResult& result);

/// How the caller is told, and how it says stop. Called in the thread that called tune().
struct TuneHooks {
  std::function<void(const Progress&)> progress;  // may be empty
  std::function<bool()> interrupted;              // true ends it now, with the best so far
};

/// Throws InputError for a proc or sizes that do not fit, Error(kUnavailable) when the target
/// cannot run here. Finding no valid candidate is a result, not an error.
TuneResult tune(const TuneRequest& request, Store& store, const TuneHooks& hooks = {});

}  // namespace exotune
