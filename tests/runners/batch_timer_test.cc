#include "runners/batch_timer.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

// Batches of a few short calls would time the clock.
TEST(BatchTimer, an_interrupt_in_the_first_calls_is_not_taken_for_slow_calls) {
  const BatchTimer timer({}, /*cold=*/false);
  int times = 0;
  const BoundCall interrupted = [&](int64_t calls) {
    if (++times != 2) return;  // the first call warms up
    EXPECT_EQ(calls, 1);
    for (const double begin = thread_seconds(); thread_seconds() - begin < 2e-3;) {
    }
  };
  EXPECT_GT(timer.calibrate(interrupted, 1e-3), 1000);
  EXPECT_GT(times, 4);
}

}  // namespace
}  // namespace exotune
