#include "runners/sim/gemmini_dma.h"

#include <algorithm>

namespace exotune::sim {

uint64_t GemminiDma::transfer(uint64_t start, uint64_t address, uint64_t bytes) {
  const uint64_t size = figures_.request_bytes, beat = figures_.dma_bytes_per_cycle;
  uint64_t end = start;
  for (uint64_t at = address; at < address + bytes;) {
    const uint64_t stop = std::min(address + bytes, (at / size + 1) * size);
    const uint64_t begun = std::max({start, last_start_ + 1, ended_[next_]});
    const uint64_t beats = (stop - 1) / beat - at / beat + 1;
    end = std::max(bus_free_, begun + figures_.l2) + beats;
    last_start_ = begun;
    bus_free_ = end;
    ended_[next_] = end;
    next_ = (next_ + 1) % ended_.size();
    ++requests_;
    busy_ += beats;
    at = stop;
  }
  bytes_ += bytes;
  return end;
}

}  // namespace exotune::sim
