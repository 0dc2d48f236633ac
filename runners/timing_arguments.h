#pragma once
// The memory that kernels are timed on: one set of arguments, or several for a problem so small
// that one call would wait for the stores of the call before. Callers of small kernels rarely work
// on one vector over and over; timing that would time the store-to-load path of the core.
#include <memory>
#include <vector>

#include "runners/guarded_arguments.h"

namespace exotune {

class TimingArguments {
 public:
  /// Filled, placed by `variation` (GuardedArguments). As many sets, up to eight, as together stay
  /// within a part of any L1 cache; one when that is asked
  /// for: every call starts from memory, or callers come back to what was just written.
  TimingArguments(const PreparedCase& prepared, bool one_set, int variation = 0);

  void refill() const;
  std::vector<void**> sets() const;                     // for a Binder
  std::vector<const GuardedArguments*> all() const;     // for watch_faults
  std::vector<GuardedArguments::Range> ranges() const;  // for BatchTimer

 private:
  std::vector<std::unique_ptr<GuardedArguments>> copies_;
};

}  // namespace exotune
