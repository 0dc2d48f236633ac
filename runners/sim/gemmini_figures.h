#pragma once
// GemminiFigures: sizes and cycles of one configuration of Gemmini, as its target's text has them.
#include <cstdint>

#include "runners/sim/figures.h"

namespace exotune::sim {

struct GemminiFigures {
  uint64_t mesh = 33;             // [latency] from the array's last input to its last output
  uint64_t l2 = 40;               // of a request to memory
  uint64_t accumulator_read = 8;  // from the accumulator to the store unit
  uint64_t size = 16;             // [parameters] array_rows, array_columns: equal
  uint64_t execute_cycles = 16;   // of one tile
  uint64_t loads_in_flight = 2;
  uint64_t dma_requests = 16;  // outstanding, each way
  uint64_t dma_bytes_per_cycle = 16;
  uint64_t request_bytes = 64;  // largest; aligned
  uint64_t reserved_loads = 8, reserved_stores = 4, reserved_executes = 16;
  uint64_t scratchpad_rows = 16384, accumulator_rows = 1024;

  static GemminiFigures read(Figures& figures);
};

}  // namespace exotune::sim
