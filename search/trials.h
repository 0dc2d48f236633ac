#pragma once
// Trials: candidates of one problem, measured once and for all. What the store already holds is not
// run again. Start at TrialRun.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "db/store.h"
#include "runners/runner.h"
#include "search/compilation.h"
#include "search/problem.h"

namespace exotune {

/// A candidate with what came of it. Times are seconds a call; `median` orders trials, `minimum` is
/// for messages.
struct Trial {
  Candidate candidate;
  std::string script;
  ProofLevel proof = ProofLevel::kProved;
  TrialStatus status = TrialStatus::kSkipped;
  std::string cause;
  bool late = false;  // a compile error for want of time
  double median = 0, minimum = 0;
  bool reused = false;      // found in the store
  bool as_written = false;  // the nest itself: there is always time for it
  Compilation compilation;
};

struct TrialLimits {
  /// For one candidate, or as long as four calls (of long ones fewer) of the fastest known take:
  /// what is as fast as that has time for its check and a sample. A stored timeout counts when it
  /// outlasted as much.
  double timeout_seconds = 2;
  /// When nothing is ok, the nest as written gets what is left of the deadline, then what timed out
  /// the time that follows from it.
  bool rescue = true;
  Deadline deadline;      // for all trials together; what it cuts short is not measured
  double best_known = 0;  // seconds of the fastest of earlier trials; 0: there are none
  int batch = 16;         // candidates per compilation
  bool fresh = false;
  std::function<void(const std::vector<Trial>&, size_t done)> progress;
};

/// In the order given, with the counts that reports need.
struct TrialRun {
  std::vector<Trial> trials;
  int measured = 0, reused = 0;
  bool interrupted = false, out_of_budget = false;
  std::map<std::string, int> causes;      // of those not ok, by status
  std::vector<std::string> first_causes;  // "crash: ...", one of each kind
};

/// Runs the trials in order, in batches; each result is in the store before the next batch starts.
TrialRun run_trials(std::vector<Trial> trials, const TrialKey& key, const TuningProblem& problem,
                    Runner& runner, Store& store, const TrialLimits& limits);

/// What identifies the engine in stored records.
const char* engine_version();

}  // namespace exotune
