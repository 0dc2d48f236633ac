#include "runners/batch_timer.h"

#include <gtest/gtest.h>

#include <string>

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

// What is prepared is no part of the call's time.
TEST(BatchTimer, one_call_is_timed_after_what_prepares_it) {
  const BatchTimer timer({}, /*cold=*/false);
  std::string order;
  const auto spend = [](double seconds) {
    for (const double begin = wall_seconds(); wall_seconds() - begin < seconds;) {
    }
  };
  double spent = 0;
  const BatchTimer::Sample taken = timer.sample_after(
      [&] {
        order += 'p';
        spend(0.2);
      },
      [&](int64_t calls) {
        EXPECT_EQ(calls, 1);
        order += 'c';
        const double begin = wall_seconds();
        spend(2e-3);
        spent = wall_seconds() - begin;
      });
  EXPECT_EQ(order, "pc");
  EXPECT_GE(taken.seconds, 2e-3);
  EXPECT_LT(taken.seconds, spent + 0.1);
}

}  // namespace
}  // namespace exotune
