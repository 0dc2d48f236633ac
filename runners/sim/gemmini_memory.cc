#include "runners/sim/gemmini_memory.h"

#include "core/base/diagnostic.h"

namespace exotune::sim {

GemminiFigures GemminiFigures::read(Figures& figures) {
  GemminiFigures g;
  g.mesh = figures.latency("mesh");
  g.l2 = figures.latency("l2");
  g.accumulator_read = figures.latency("accumulator_read");
  g.size = figures.parameter("array_rows");
  if (figures.parameter("array_columns") != g.size || g.size == 0 || g.size > 64)
    throw InputError(
        {}, "the simulated array is square, of at most 64 rows: array_rows and array_columns");
  g.execute_cycles = figures.parameter("execute_cycles");
  g.loads_in_flight = figures.parameter("loads_in_flight");
  g.dma_requests = figures.parameter("dma_requests");
  g.dma_bytes_per_cycle = figures.parameter("dma_bytes_per_cycle");
  g.request_bytes = figures.parameter("request_bytes", g.request_bytes);
  g.reserved_loads = figures.parameter("reserved_loads");
  g.reserved_stores = figures.parameter("reserved_stores");
  g.reserved_executes = figures.parameter("reserved_executes");
  g.scratchpad_rows = figures.parameter("scratchpad_rows", g.scratchpad_rows);
  g.accumulator_rows = figures.parameter("accumulator_rows", g.accumulator_rows);
  for (const uint64_t n :
       {g.loads_in_flight, g.dma_requests, g.dma_bytes_per_cycle, g.request_bytes, g.reserved_loads,
        g.reserved_stores, g.reserved_executes})
    if (n == 0)
      throw InputError(
          {}, "[parameters] of the target: a unit of Gemmini with none of what it works with");
  return g;
}

GemminiTile GemminiTile::of(uint64_t word) {
  GemminiTile t;
  const uint32_t local = static_cast<uint32_t>(word);
  t.none = local == 0xffffffffu;
  t.accumulator = local >> 31;
  t.accumulate = local >> 30 & 1;
  t.full = local >> 29 & 1;
  t.row = local & 0x1fffffff;
  t.columns = word >> 32 & 0xffff;
  t.rows = word >> 48;
  return t;
}

GemminiMemory::GemminiMemory(const GemminiFigures& f)
    : size_(f.size),
      scratch_rows_(f.scratchpad_rows),
      sum_rows_(f.accumulator_rows),
      scratch_(f.scratchpad_rows * f.size),
      sums_(f.accumulator_rows * f.size),
      times_(f.scratchpad_rows + f.accumulator_rows) {}

std::string GemminiMemory::refusal(bool accumulator, uint64_t row, uint64_t count) const {
  const uint64_t rows = accumulator ? sum_rows_ : scratch_rows_;
  if (row <= rows && count <= rows - row) return "";
  return "rows " + std::to_string(row) + " to " + std::to_string(row + count - 1) + " of " +
         (accumulator ? "an accumulator" : "a scratchpad") + " of " + std::to_string(rows);
}

}  // namespace exotune::sim
