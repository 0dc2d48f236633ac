#pragma once
// How a search is going, on stderr: on a terminal one line, rewritten in place; elsewhere a line
// every half minute, so that a log shows that it lives.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "search/tuner.h"

namespace exotune::cli {

/// "[sgemm avx512] measure 312/1000 ok 287 bad 25 | best 221 GFLOP/s 92% peak | 50s of at most
/// 4m00s". What was measured is told from the first measurement on.
std::string progress_text(const std::string& label, const Progress& progress,
                          const std::string& unit, double elapsed_seconds, double budget_seconds);

/// By what stderr is: nothing when quiet, a terminal's line, or lines for a log.
enum class ProgressStyle : uint8_t { kNone, kTerminal, kLines };

/// Shows the last progress it was told of, from a thread of its own: also while nothing new comes.
class ProgressLine {
 public:
  /// Starts the thread, unless the style is kNone; the destructor ends it and clears a terminal's
  /// line.
  ProgressLine(std::string label, std::string unit, double budget_seconds, ProgressStyle style);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Cheap: keeps the progress and wakes the thread, which prints at most some times a second.
  void show(const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  void run(std::stop_token stop);
  void print(const Progress& progress);

  std::string label_, unit_;
  double budget_seconds_;
  ProgressStyle style_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  Progress last_;
  bool told_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace exotune::cli
