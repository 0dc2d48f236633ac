#include "runners/sim/timing.h"

namespace exotune::sim {

Timing Timing::read(Figures& figures) {
  Timing t;
  t.load = figures.latency("load", t.load);
  t.multiply = figures.latency("multiply", t.multiply);
  t.multiply_high = figures.latency("multiply_high", t.multiply_high);
  t.divide = figures.latency("divide", t.divide);
  t.float_operation = figures.latency("float_operation", t.float_operation);
  t.float_divide = figures.latency("float_divide", t.float_divide);
  t.branch_taken = figures.latency("branch_taken", t.branch_taken);
  t.jump = figures.latency("jump", t.jump);
  return t;
}

Account operator-(Account later, const Account& earlier) {
  later.cycles -= earlier.cycles;
  later.instructions -= earlier.instructions;
  later.waited -= earlier.waited;
  later.waited_for_loads -= earlier.waited_for_loads;
  later.waited_for_device -= earlier.waited_for_device;
  for (size_t k = 0; k < later.events.size() && k < earlier.events.size(); ++k)
    later.events[k].count -= earlier.events[k].count;
  return later;
}

}  // namespace exotune::sim
