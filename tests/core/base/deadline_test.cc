#include "core/base/deadline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "core/base/parallel.h"
#include "core/base/subprocess.h"

namespace exotune {
namespace {

TEST(Deadline, without_a_moment_is_never_over) {
  const Deadline d;
  EXPECT_FALSE(d.over());
  EXPECT_TRUE(std::isinf(d.left()));
  EXPECT_FALSE(d.sooner(10).over());
}

TEST(Deadline, is_over_when_its_time_has_passed) {
  ManualTime clock;
  const Deadline d = Deadline::after(10, clock);
  clock.advance(4);
  EXPECT_DOUBLE_EQ(d.left(), 6);
  EXPECT_FALSE(d.over());
  clock.advance(6);
  EXPECT_TRUE(d.expired());
  EXPECT_DOUBLE_EQ(d.left(), 0);
}

TEST(Deadline, of_a_phase_is_never_later_than_the_whole) {
  ManualTime clock;
  const Deadline whole = Deadline::after(10, clock);
  EXPECT_DOUBLE_EQ(whole.within(3).left(), 3);
  EXPECT_DOUBLE_EQ(whole.within(30).left(), 10);
  EXPECT_DOUBLE_EQ(whole.sooner(4).left(), 6);
}

TEST(Deadline, is_over_as_soon_as_its_owner_asks) {
  ManualTime clock;
  bool stop = false;
  const Deadline d = Deadline::after(10, clock).or_when([&] { return stop; }).within(5);
  EXPECT_FALSE(d.over());
  stop = true;
  EXPECT_TRUE(d.interrupted());
  EXPECT_TRUE(d.over());
  EXPECT_FALSE(d.expired());
}

TEST(Deadline, of_two_owners_hears_both) {
  bool first = false, second = false;
  const Deadline d = Deadline().or_when([&] { return first; }).or_when([&] { return second; });
  EXPECT_FALSE(d.over());
  second = true;
  EXPECT_TRUE(d.over());
}

TEST(DeadlineScope, is_of_its_thread_and_ends_with_its_block) {
  ManualTime clock;
  {
    const DeadlineScope outer(Deadline::after(5, clock));
    {
      const DeadlineScope inner(Deadline::after(1, clock));
      EXPECT_DOUBLE_EQ(DeadlineScope::current().left(), 1);
    }
    EXPECT_DOUBLE_EQ(DeadlineScope::current().left(), 5);
    std::thread([] { EXPECT_TRUE(std::isinf(DeadlineScope::current().left())); }).join();
  }
  EXPECT_TRUE(std::isinf(DeadlineScope::current().left()));
}

TEST(DoneWithin, leaves_work_where_it_looks_and_the_time_is_over) {
  ManualTime clock;
  int done = 0;
  const auto work = [&] {
    for (; done < 10; ++done) {
      leave_if_over();
      clock.advance(1);
    }
  };
  EXPECT_FALSE(done_within(Deadline::after(3, clock), work));
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(done_within(Deadline::after(30, clock), work));
  EXPECT_EQ(done, 10);
}

TEST(DoneWithin, alone_may_be_left) {
  ManualTime clock;
  const Deadline over = Deadline::after(0, clock);
  leave_if_over();
  const DeadlineScope scope(over);
  leave_if_over();
  bool inner = false, outer = false;
  EXPECT_FALSE(done_within(over, [&] {
    {
      const DeadlineScope ends(over);  // as for proofs: they end undecided
      leave_if_over();
    }
    EXPECT_TRUE(done_within(Deadline(), [&] { inner = (leave_if_over(), true); }));
    leave_if_over();
    outer = true;
  }));
  EXPECT_TRUE(inner);
  EXPECT_FALSE(outer);
  leave_if_over();
}

TEST(DoneWithin, is_no_error_that_a_step_may_take_for_a_refusal) {
  ManualTime clock;
  int caught = 0;
  EXPECT_FALSE(done_within(Deadline::after(0, clock), [&] {
    try {
      leave_if_over();
    } catch (const std::exception&) {
      ++caught;
    }
  }));
  EXPECT_EQ(caught, 0);
}

TEST(DoneWithin, leaves_what_is_shared_out_too) {
  ManualTime clock;
  std::atomic<int> begun = 0, ended = 0;
  EXPECT_FALSE(done_within(Deadline::after(0, clock), [&] {
    in_parallel(64, [&](size_t) {
      ++begun;
      leave_if_over();
      ++ended;
    });
  }));
  EXPECT_GT(begun, 0);
  EXPECT_EQ(ended, 0);
  in_parallel(64, [&](size_t) { leave_if_over(); });
}

TEST(DeadlineScope, kills_the_program_that_is_waited_for) {
  int asked = 0;
  const DeadlineScope scope(Deadline().or_when([&] { return ++asked > 3; }));
  const CommandResult r = run_command({"sleep", "100"});
  EXPECT_TRUE(r.stopped);
  EXPECT_FALSE(r.timed_out);
  EXPECT_FALSE(r.ok());
}

TEST(Subprocess, tells_a_time_limit_from_a_stop) {
  CommandOptions options;
  options.timeout_seconds = 0.01;
  const CommandResult r = run_command({"sleep", "100"}, options);
  EXPECT_TRUE(r.timed_out);
  EXPECT_FALSE(r.stopped);
}

}  // namespace
}  // namespace exotune
