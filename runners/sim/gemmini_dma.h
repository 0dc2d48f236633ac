#pragma once
// GemminiDma: one direction of the device's way to memory: aligned requests, so many outstanding, a
// latency, and a bus of so many bytes a cycle.
#include <cstdint>
#include <vector>

#include "runners/sim/gemmini_figures.h"

namespace exotune::sim {

class GemminiDma {
 public:
  explicit GemminiDma(const GemminiFigures& figures)
      : figures_(figures), ended_(figures.dma_requests, 0) {}

  /// When the transfer of `bytes` from `address` on ends, asked for at `start`.
  uint64_t transfer(uint64_t start, uint64_t address, uint64_t bytes);
  uint64_t requests() const { return requests_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t busy() const { return busy_; }

 private:
  GemminiFigures figures_;
  std::vector<uint64_t> ended_;  // of the last requests, a ring
  size_t next_ = 0;
  uint64_t last_start_ = 0, bus_free_ = 0, requests_ = 0, bytes_ = 0, busy_ = 0;
};

}  // namespace exotune::sim
