#pragma once
// A forked child with a wall timeout, and memory it shares with its parent to report through. What
// the child does, loads or breaks is gone when it ends.
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace exotune {

/// Zeroed memory that stays shared across fork. Unmapped when it goes; children that are still
/// there keep their own mapping of it.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  size_t bytes_;
};

/// How it ended; at most one of timed_out, stopped and signal is the reason.
struct ChildOutcome {
  bool timed_out = false;
  bool stopped = false;  // killed: the thread's deadline was over
  int signal = 0;        // that ended it, or 0
  int exit_status = 0;   // valid when neither
  bool ok() const { return !timed_out && !stopped && signal == 0 && exit_status == 0; }
  /// "killed by SIGILL (illegal instruction)", "exited with status 3", "timed out".
  std::string describe() const;
};

/// Runs `body` in a forked child with its own process group, no standard streams and no core files;
/// waits at most `timeout_seconds` of wall time, and no longer than the thread's deadline
/// (DeadlineScope) lasts, then kills the group. The child dies with its
/// parent. An exception that leaves `body` makes exit status 125.
ChildOutcome run_in_child(const std::function<void()>& body, double timeout_seconds);

/// "SIGSEGV (segmentation fault)".
std::string signal_text(int signal);

}  // namespace exotune
