#pragma once
// The one line on a terminal that says how a search is going, rewritten in place on stderr.
#include <chrono>
#include <string>

#include "search/tuner.h"

namespace exotune::cli {

/// "[sgemm avx512] measure 312/1000 ok 287 bad 25 | best 221 GFLOP/s 92% peak | ETA 3m10s".
std::string progress_text(const std::string& label, const Progress& progress,
                          const std::string& unit, double elapsed_seconds, double budget_seconds);

class ProgressLine {
 public:
  /// Prints nothing when not `enabled`.
  ProgressLine(std::string label, std::string unit, double budget_seconds, bool enabled);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// At most ten times a second.
  void show(const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_, unit_;
  double budget_seconds_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_ - std::chrono::seconds(1);
};

}  // namespace exotune::cli
