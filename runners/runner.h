#pragma once
// Runner: the seam between whoever proposes candidates and whatever executes them (this machine, a
// simulator, a cluster). Start at Runner::run; NativeRunner (native_runner.h) is this machine,
// FakeRunner below is for tests of the search.
//
// One bad candidate costs itself only: a compile error, crash, hang, illegal instruction or write
// out of bounds becomes its status and a cause in words; the others are unaffected.
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runners/candidate.h"
#include "runners/test_case.h"

namespace exotune {

enum class TrialStatus {
  kOk,
  kCompileError,  // cause holds the compiler's first errors
  kCrash,         // ended by a signal, or exited; cause names it
  kTimeout,       // wall timeout
  kOutOfBounds,   // guard words changed, a guard page was hit, or memory between strides touched
  kMismatch,      // an output differs from what was expected, or an input was modified
  kPoisoned,      // an output depends on, or still holds, uninitialised memory
  kSkipped,       // not run: interrupted, or the budget was spent
};
/// "ok", "compile_error", "crash", "timeout", "out_of_bounds", "mismatch", "poisoned", "skipped".
const char* status_name(TrialStatus status);
TrialStatus status_from_name(const std::string& name);

/// Seconds. Calls that take longer are made as seldom as can be: once for the check and, of those
/// near the best, once more.
inline constexpr double kLongestCall = 0.25;

/// What a sample counts; samples of different kinds are never compared.
enum class SampleUnit { kSeconds, kModelCycles, kInstret, kRtlCycles, kFpgaCycles };
const char* unit_name(SampleUnit unit);

struct TrialResult;

struct RunOptions {
  double timeout_seconds = 2;     // wall clock, per candidate, for checks and timing together
  bool measure = true;            // false: correctness only
  int batches = 5;                // samples per candidate when screening
  double batch_seconds = 0.5e-3;  // calls per sample are calibrated to take about this long
  bool cold = false;              // flush the data from the caches before each timed call
  /// Seconds of the fastest candidate before these; 0: none is known. Of one slower than
  /// `give_up_factor` times the fastest so far one sample is taken, of a long call that of its
  /// check; a native one is stopped when ten calls of the fastest and what filling and comparing
  /// takes are over.
  double best_known = 0;
  double give_up_factor = 2;
  /// Asked between candidates; true ends the run, the rest is kSkipped. May be empty.
  std::function<bool()> interrupted;
  /// Told each result as soon as there is one, by the candidate's place, one after the other. May
  /// be empty.
  std::function<void(size_t, const TrialResult&)> finished;
};

struct TrialResult {
  std::string candidate_id;
  TrialStatus status = TrialStatus::kSkipped;
  std::string cause;            // one line or a few; "" when ok
  int signal = 0;               // the signal of a kCrash
  bool late = false;            // a kCompileError for want of time
  std::vector<double> samples;  // per call, in the runner's unit; kept even when few
  double median = 0;            // of the samples; 0 when none
  double minimum = 0;
  int64_t calls_per_sample = 0;
  int dropped = 0;  // samples thrown away: the thread was preempted
  bool ok() const { return status == TrialStatus::kOk; }
};

/// What one call left behind.
struct Evaluation {
  std::vector<std::vector<double>> outputs;  // by argument, logical elements; empty: not written
  std::string cause;                         // why there are none; "" when there are
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual std::string name() const = 0;
  virtual SampleUnit unit() const = 0;
  /// Checks every candidate against `test` and, unless told otherwise, times it. One result per
  /// candidate, in order. All candidates take the same arguments as `test` was made for. Never
  /// throws for what a candidate does; throws Error(kUnavailable) when nothing can run at all.
  virtual std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase& test,
                                       const RunOptions& options) = 0;
  /// Calls `candidate` once on `inputs` (as TestCase::inputs) and judges nothing: where the
  /// interpreter would take too long, what must come out is what the code of the nest as written
  /// computes. Elements that it leaves alone are NaN, integers, too. A runner that cannot says so
  /// in the cause.
  virtual Evaluation evaluate(const Candidate& candidate,
                              const std::vector<std::vector<double>>& inputs,
                              double timeout_seconds);
  /// What the time of a candidate's last good run went into, in the runner's unit or as counts, by
  /// name; empty where the runner cannot tell.
  virtual std::vector<std::pair<std::string, double>> spent_on(
      const std::string& candidate_id) const {
    (void)candidate_id;
    return {};
  }
};

/// For tests of the search: answers from a function, runs nothing.
class FakeRunner : public Runner {
 public:
  using Answer = std::function<TrialResult(const Candidate&)>;
  explicit FakeRunner(Answer answer, SampleUnit unit = SampleUnit::kSeconds)
      : answer_(std::move(answer)), unit_(unit) {}
  std::string name() const override { return "fake"; }
  SampleUnit unit() const override { return unit_; }
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase& test,
                               const RunOptions& options) override;

 private:
  Answer answer_;
  SampleUnit unit_;
};

}  // namespace exotune
