#pragma once
// The judgement of one callable in a child process: two runs on guarded memory, then timing. Used
// for candidates and peers alike; everything here runs in the child and reports through shared
// memory.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runners/guarded_arguments.h"
#include "runners/runner.h"
#include "runners/sandbox.h"

namespace exotune {

/// Calls the code under test `calls` times, on each of the argument sets it was bound to in turn.
using BoundCall = std::function<void(int64_t calls)>;
/// Binds the code under test to one or more sets of arguments (GuardedArguments::pointers()).
using Binder = std::function<BoundCall(const std::vector<void**>& sets)>;

/// What a child reports; lies in SharedMemory, so only plain data.
struct ChildReport {
  enum Stage : int32_t { kLoading, kChecking, kTiming, kDone };
  int32_t stage;
  TrialStatus status;
  int32_t signal;
  int32_t current;      // the contender being called, in a shoot-out
  double call_seconds;  // CPU time of the check's latest call; 0 until one came back
  char cause[1000];

  void set(TrialStatus new_status, const std::string& text);
};

/// Turns faults into a report and ends the child: out of bounds when the address lies in a guard of
/// one of `arguments`, a crash otherwise. Call again to change what is watched; none: no guards.
void watch_faults(ChildReport* report, std::vector<const GuardedArguments*> arguments);

/// Runs `bind` on both placements; the finding is also left in `report` (kOk when clean). With
/// `once_if_long` a call that takes kLongestCall is all there is: for trials, since finalists are
/// judged again.
bool judge(const PreparedCase& prepared, const Binder& bind, ChildReport* report,
           bool once_if_long = false);

/// Loads in a child process and judges there what was loaded: `load` is called in the child, and
/// says with an empty Binder and a text why it cannot. The parent waits at most `timeout_seconds`.
struct Judged {
  Finding finding;
  int signal = 0;           // that ended the child, or that it caught; 0: none
  double call_seconds = 0;  // of its latest call; 0: none came back
};
Judged judge_in_child(const PreparedCase& prepared, double timeout_seconds,
                      const std::function<Binder(std::string* error)>& load);

/// The status and cause the parent makes of a child that ended with `outcome`.
Finding conclude(const ChildReport& report, const ChildOutcome& outcome, double timeout_seconds);

}  // namespace exotune
