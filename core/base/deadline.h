#pragma once
// Deadline: when work must end. Start at Deadline::after.
//
// One is made where a budget is given and handed down by value; each phase narrows what it hands on
// (within, sooner). It is over when its time has passed, or as soon as its owner asks to stop: who
// waits for a child or turns a long loop has one question, over(). What runs deep below, where no
// parameter reaches (a compiler's child, a proof), asks the deadline of its thread, DeadlineScope.
// Work that may be left in the middle, as a step of a schedule may, is run by done_within.
#include <functional>
#include <memory>

namespace exotune {

/// The seam for time: seconds since some moment, never going back.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual double seconds() const = 0;
  /// This machine's monotonic clock; lives for ever.
  static const TimeSource& steady();
};

/// A clock that stands still until it is told otherwise, for tests.
class ManualTime : public TimeSource {
 public:
  double seconds() const override { return now_; }
  void advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

/// A value; copies share nothing that changes. Every member may be called from any thread.
class Deadline {
 public:
  /// Never over.
  Deadline() = default;
  /// `seconds` from now; `clock` must outlive it and all that are made from it.
  static Deadline after(double seconds, const TimeSource& clock = TimeSource::steady());

  /// This one, and no later than `seconds` from now.
  Deadline within(double seconds) const;
  /// As this one, `seconds` before: keeps time for what comes after. One without a moment has none
  /// after this either.
  Deadline sooner(double seconds) const;
  /// This one, and over as soon as `stop` is true; may be empty. Asked from any thread.
  Deadline or_when(std::function<bool()> stop) const;

  /// Cheap enough for loops of a microsecond's work: a read of the clock, and the owner's question
  /// when there is one. Loops that are shorter ask every so many turns.
  bool over() const { return interrupted() || expired(); }
  bool expired() const;      // its time has passed
  bool interrupted() const;  // its owner asked to stop
  /// Seconds until it expires, at least 0; infinite without a moment.
  double left() const;

 private:
  const TimeSource& clock() const { return clock_ ? *clock_ : TimeSource::steady(); }

  const TimeSource* clock_ = nullptr;  // null: the steady one
  double end_ = kNever;
  std::shared_ptr<const std::function<bool()>> stop_;
  static constexpr double kNever = 1e300;
};

/// The deadline of this thread from here to the end of the scope, and of the tasks that it shares
/// out (in_parallel). Threads that are started otherwise do not have it: they open a scope of their
/// own. Children that the thread waits for are killed when it is over, and proofs that it makes end
/// undecided, which refuses the step.
class DeadlineScope {
 public:
  explicit DeadlineScope(Deadline deadline);
  ~DeadlineScope();
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

  /// Of the innermost scope; never over outside of all.
  static const Deadline& current();

 private:
  friend class InheritedScope;
  friend bool done_within(const Deadline& deadline, const std::function<void()>& work);
  DeadlineScope(Deadline deadline, bool leaves);
  Deadline deadline_;
  const Deadline* outer_;
  bool outer_leaves_;
};

/// Runs `work` under the deadline, and leaves it in the middle when that is over: what may take
/// long looks (leave_if_over). False: it was left; what it had stored by then stands. Scopes may
/// lie in one another, and the innermost decides: a DeadlineScope inside lets its work end.
bool done_within(const Deadline& deadline, const std::function<void()>& work);

/// Ends the innermost done_within of this thread if its deadline is over; does nothing outside of
/// one. No refusal, and no Error: who tries one way after another must not go on to the next.
/// Costs as much as Deadline::over.
void leave_if_over();

/// The scope of another thread, for a task that works for it.
class InheritedScope {
 public:
  /// Taken on the thread that shares work out.
  InheritedScope();
  /// Runs `task` in that scope.
  void run(const std::function<void()>& task) const;

 private:
  Deadline deadline_;
  bool leaves_;
};

}  // namespace exotune
