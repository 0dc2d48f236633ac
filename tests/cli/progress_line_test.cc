#include "cli/progress_line.h"

#include <gtest/gtest.h>

namespace exotune::cli {
namespace {

TEST(ProgressLine, says_how_far_how_good_and_how_long) {
  Progress progress;
  progress.done = 312;
  progress.planned = 1000;
  progress.ok = 287;
  progress.bad = 25;
  progress.best = 221.4;
  progress.percent_of_peak = 92;
  progress.phase = "measure";
  EXPECT_EQ(
      progress_text("sgemm avx512", progress, "GFLOP/s", 86, 600),
      "[sgemm avx512] measure 312/1000 ok 287 bad 25 | best 221 GFLOP/s 92% peak | 1m26s of at "
      "most 10m00s");
}

TEST(ProgressLine, tells_no_results_before_there_are_any) {
  Progress progress;
  progress.done = 1;
  progress.planned = 1000;
  progress.phase = "search";
  EXPECT_EQ(progress_text("a", progress, "GB/s", 50, 60),
            "[a] search 1/1000 | 50s of at most 1m00s");
}

TEST(ProgressLine, of_a_phase_that_cannot_be_counted_has_no_count) {
  Progress progress;
  progress.phase = "peers";
  EXPECT_EQ(progress_text("a", progress, "GB/s", 7, 60), "[a] peers | 7s of at most 1m00s");
}

}  // namespace
}  // namespace exotune::cli
