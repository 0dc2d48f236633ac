#pragma once
// Timing of calls in the current thread: its CPU clock (so that being preempted does not count), in
// batches long enough for the clock, each marked when an involuntary switch fell into it. Calls
// that use several threads take wall time, from all others asleep to the end of the last.
#include <cstdint>
#include <functional>
#include <vector>

#include "runners/judge.h"

namespace exotune {

class BatchTimer {
 public:
  /// `data` is flushed from the caches before every call when `cold`. Sets flush-to-zero, so that
  /// values that shrink over thousands of calls do not become slow denormals.
  BatchTimer(std::vector<GuardedArguments::Range> data, bool cold, int threads = 1);

  /// How many calls take about `seconds`; makes some calls to find out. At most 2^30.
  int64_t calibrate(const BoundCall& call, double seconds) const;
  /// Seconds per call over `calls` calls.
  struct Sample {
    double seconds;
    bool preempted;  // an involuntary context switch fell into it
  };
  Sample sample(const BoundCall& call, int64_t calls) const;
  /// One call after `prepare`, by the wall clock: the kernel is not asked for anything in between.
  /// A short call just after a system call takes up to twice as long where its vectors cross lines.
  Sample sample_after(const std::function<void()>& prepare, const BoundCall& call) const;

 private:
  void flush() const;
  double now() const;
  std::vector<GuardedArguments::Range> data_;
  bool cold_;
  int threads_;
  double overhead_ = 0;  // of reading the wall clock twice
};

/// CPU seconds of this thread.
double thread_seconds();
/// Wall seconds since some start.
double wall_seconds();

}  // namespace exotune
