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
      "[sgemm avx512] measure 312/1000 ok 287 bad 25 | best 221 GFLOP/s 92% peak | ETA 3m10s");
}

TEST(ProgressLine, never_promises_more_than_the_budget) {
  Progress progress;
  progress.done = 1;
  progress.planned = 1000;
  progress.phase = "search";
  EXPECT_EQ(progress_text("a", progress, "GB/s", 50, 60), "[a] search 1/1000 ok 0 bad 0 | ETA 10s");
}

TEST(ProgressLine, has_no_eta_before_anything_is_done) {
  Progress progress;
  progress.planned = 10;
  progress.phase = "search";
  EXPECT_EQ(progress_text("a", progress, "GB/s", 50, 60), "[a] search 0/10 ok 0 bad 0");
}

}  // namespace
}  // namespace exotune::cli
