#pragma once
// Running another program: compilers, simulators, peers' tools. Never through a shell.
#include <string>
#include <vector>

namespace exotune {

struct CommandResult {
  bool started = false;    // false: the program could not be executed (not found)
  bool timed_out = false;  // killed after the wall timeout, with its process group
  bool stopped = false;    // killed the same way: the thread's deadline was over
  int exit_status = -1;    // valid when it exited by itself
  int signal = 0;          // valid when a signal ended it
  std::string out;         // standard output and standard error, as they came
  std::string err;
  bool ok() const { return started && !timed_out && !stopped && signal == 0 && exit_status == 0; }
};

struct CommandOptions {
  std::string directory;                                // working directory; empty = ours
  double timeout_seconds = 60;                          // wall clock
  std::vector<std::string> unset_environment_prefixes;  // e.g. "OMP_": removed for the child
  // The child's TMPDIR; empty = ours. A compiler that is killed leaves its files there: a folder
  // of the caller's takes them along when it is removed.
  std::string temporaries;
};

/// Runs argv[0] (searched on PATH) with the rest as arguments and collects what it prints.
/// Never throws for what the program does. The program is killed when the thread's deadline
/// (DeadlineScope) is over, and when this process ends.
CommandResult run_command(const std::vector<std::string>& argv, const CommandOptions& options = {});

/// The full path of `program` on PATH, or "" when absent.
std::string find_program(const std::string& program);

}  // namespace exotune
