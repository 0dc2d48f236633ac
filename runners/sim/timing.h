#pragma once
// Timing: what an in-order processor's instructions cost, and what a run's cycles went into.
#include <cstdint>
#include <vector>

#include "runners/sim/device.h"
#include "runners/sim/figures.h"

namespace exotune::sim {

/// One instruction issues per cycle, in order, once its operands are there. Figures are cycles from
/// issue to when the result may be used (1: by the next instruction).
struct Timing {
  uint64_t load = 2;
  uint64_t multiply = 1;
  uint64_t multiply_high = 1;
  uint64_t divide = 33;  // nothing issues meanwhile
  uint64_t float_operation = 4;
  uint64_t float_divide = 20;  // nothing issues meanwhile
  uint64_t branch_taken = 2;   // cycles without an issue after it
  uint64_t jump = 1;           // the same

  /// [latency] load, multiply, multiply_high, divide, float_operation, float_divide, branch_taken,
  /// jump; what the text leaves out is as above.
  static Timing read(Figures& figures);
};

/// What the clock counted up to some point. Differences of two are a part of the run.
struct Account {
  uint64_t cycles = 0;
  uint64_t instructions = 0;
  uint64_t waited = 0;            // cycles without an issue because an operand was not there
  uint64_t waited_for_loads = 0;  // of those, for a load from memory
  uint64_t waited_for_device = 0;
  std::vector<Event> events;  // the device's
};
Account operator-(Account later, const Account& earlier);

}  // namespace exotune::sim
