#include "runners/batch_timer.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "runners/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace exotune {
// Time of a candidate, in batches of calls long enough for the clock. One thread is timed by its
// own CPU time, so that another process costs a context switch and not the sample; several only by
// the wall clock, since they also wait for each other.

namespace {

double clock_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// How often the system took the core away: a sample with any is no clean one. Of several threads
// those of the whole process, which a helper thread of a library shares.
int64_t involuntary_switches(int threads) {
  rusage usage{};
  getrusage(threads > 1 ? RUSAGE_SELF : RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double thread_seconds() { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }
double wall_seconds() { return clock_seconds(CLOCK_MONOTONIC); }

BatchTimer::BatchTimer(std::vector<GuardedArguments::Range> data, bool cold, int threads)
    : data_(std::move(data)), cold_(cold), threads_(threads) {
#if defined(__x86_64__)
  // Flush denormals to zero, on input and on output: test data that decay would otherwise time the
  // microcode of denormals.
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  // What two readings of the clock cost, to be taken off each sample: the least, as what is above
  // it was an interruption.
  double least = 1;
  for (int i = 0; i < 64; ++i) {
    const double start = wall_seconds();
    least = std::min(least, wall_seconds() - start);
  }
  overhead_ = least;
}

// Cold runs start with none of their data in any cache. Where no instruction does that, enough
// other data are written to push them out.
void BatchTimer::flush() const {
#if defined(__x86_64__)
  for (const auto& range : data_)
    for (size_t i = 0; i < range.bytes; i += 64) _mm_clflush(range.data + i);
  _mm_mfence();
#else
  static std::vector<uint8_t> other(64 << 20);
  for (size_t i = 0; i < other.size(); i += 64) other[i] = static_cast<uint8_t>(other[i] + 1);
#endif
}

double BatchTimer::now() const { return threads_ > 1 ? wall_seconds() : thread_seconds(); }

constexpr double kLong = 0.1;  // seconds

int64_t BatchTimer::calibrate(const BoundCall& call, double seconds) const {
  call(1);  // page faults, lazy binding, library set-up
  // Calls in a batch: of a function that does nothing no number of them takes long enough.
  constexpr int64_t kMost = int64_t{1} << 30;
  if (cold_) {  // a flush costs more than the call; a few calls are enough
    const double once = std::max(sample(call, 1).seconds, 1e-9);
    return std::clamp<int64_t>(static_cast<int64_t>(seconds / once), 1, 32);
  }
  const auto spent_on = [&](int64_t calls) {
    const double start = now();
    call(calls);
    return now() - start;
  };
  // Four times as many until a quarter of the wanted time is seen: an estimate from less would be
  // one of the clock. Seen twice, unless it is long: an interrupt in the first calls looked like
  // slow ones, and then batches of a few calls timed the clock.
  for (int64_t calls = 1;; calls = std::min(kMost, calls * 4)) {
    double spent = spent_on(calls);
    if (spent >= seconds / 4 && spent < kLong) spent = std::min(spent, spent_on(calls));
    if (spent < seconds / 4 && calls < kMost) continue;
    const double wanted = static_cast<double>(calls) * seconds / std::max(spent, 1e-9);
    return std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, kMost);
  }
}

BatchTimer::Sample BatchTimer::sample(const BoundCall& call, int64_t calls) const {
  if (threads_ > 1) {
    await_idle_threads();
    call(1);  // wakes its own
  }
  const int64_t switches = involuntary_switches(threads_);
  double spent = 0;
  if (cold_) {
    for (int64_t i = 0; i < calls; ++i) {
      flush();
      const double start = wall_seconds();
      call(1);
      spent += std::max(wall_seconds() - start - overhead_, 1e-9);
    }
  } else {
    const double start = now();
    call(calls);
    spent = now() - start;
  }
  return {spent / static_cast<double>(calls), involuntary_switches(threads_) != switches};
}

BatchTimer::Sample BatchTimer::sample_after(const std::function<void()>& prepare,
                                            const BoundCall& call) const {
  if (threads_ > 1) {
    await_idle_threads();
    call(1);  // wakes its own
  }
  const int64_t switches = involuntary_switches(threads_);
  prepare();
  const double start = wall_seconds();
  call(1);
  const double spent = std::max(wall_seconds() - start - overhead_, 1e-9);
  return {spent, involuntary_switches(threads_) != switches};
}

}  // namespace exotune
