#include "core/base/deadline.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace exotune {
namespace {

class SteadyTime : public TimeSource {
 public:
  double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

const Deadline kNoDeadline;
// A thread's own: no other thread can see it, and each scope puts back what it found.
thread_local const Deadline* current_deadline = nullptr;
thread_local bool may_leave = false;  // whoever opened the innermost scope waits for Left

// What ends work that is left: of no type that anybody else catches.
struct Left {};

}  // namespace

const TimeSource& TimeSource::steady() {
  static const SteadyTime clock;
  return clock;
}

Deadline Deadline::after(double seconds, const TimeSource& clock) {
  Deadline out;
  out.clock_ = &clock;
  return out.within(seconds);
}

Deadline Deadline::within(double seconds) const {
  Deadline out = *this;
  out.end_ = std::min(end_, clock().seconds() + std::max(0.0, seconds));
  return out;
}

Deadline Deadline::sooner(double seconds) const {
  Deadline out = *this;
  if (end_ < kNever) out.end_ = end_ - seconds;
  return out;
}

Deadline Deadline::or_when(std::function<bool()> stop) const {
  Deadline out = *this;
  if (!stop) return out;
  if (stop_) stop = [first = stop_, second = std::move(stop)] { return (*first)() || second(); };
  out.stop_ = std::make_shared<const std::function<bool()>>(std::move(stop));
  return out;
}

bool Deadline::expired() const { return end_ < kNever && clock().seconds() >= end_; }

bool Deadline::interrupted() const { return stop_ && (*stop_)(); }

double Deadline::left() const {
  if (end_ >= kNever) return std::numeric_limits<double>::infinity();
  return std::max(0.0, end_ - clock().seconds());
}

DeadlineScope::DeadlineScope(Deadline deadline) : DeadlineScope(std::move(deadline), false) {}

DeadlineScope::DeadlineScope(Deadline deadline, bool leaves)
    : deadline_(std::move(deadline)), outer_(current_deadline), outer_leaves_(may_leave) {
  current_deadline = &deadline_;
  may_leave = leaves;
}

DeadlineScope::~DeadlineScope() {
  current_deadline = outer_;
  may_leave = outer_leaves_;
}

const Deadline& DeadlineScope::current() {
  return current_deadline ? *current_deadline : kNoDeadline;
}

bool done_within(const Deadline& deadline, const std::function<void()>& work) {
  const DeadlineScope scope(deadline, /*leaves=*/true);
  try {
    work();
    return true;
  } catch (const Left&) {
    return false;
  }
}

void leave_if_over() {
  if (may_leave && current_deadline->over()) throw Left{};
}

InheritedScope::InheritedScope() : deadline_(DeadlineScope::current()), leaves_(may_leave) {}

void InheritedScope::run(const std::function<void()>& task) const {
  const DeadlineScope scope(deadline_, leaves_);
  task();
}

}  // namespace exotune
