#pragma once
// A processor with a few instructions of code, given as machine words, and a page of data.
#include <memory>
#include <vector>

#include "runners/sim/processor.h"

namespace exotune::sim {

struct SmallMachine {
  static constexpr uint64_t kCode = 0x80000000, kData = 0x80001000;

  SmallMachine(const std::string& isa, const std::vector<uint32_t>& words, Device* device = nullptr,
               const Timing& timing = {})
      : memory(kCode, 0x4000) {
    uint64_t at = kCode;
    for (const uint32_t word : words) {
      memory.write(at, static_cast<uint16_t>(word));
      if (length_of(word) == 4) memory.write(at + 2, static_cast<uint16_t>(word >> 16));
      at += static_cast<uint64_t>(length_of(word));
    }
    end = at;
    memory.write<uint32_t>(at, 0x00100073);  // ebreak
    memory.protect(kCode, at + 4, kData);
    processor = Processor::make({Isa::parse(isa), true, timing, 0}, memory, device);
    processor->set_pc(kCode);
  }
  /// Runs to the closing ebreak, or to whatever else stops it.
  Stop run(uint64_t limit = 10000) { return processor->run(limit); }
  bool reached_end() const { return processor->trap().cause == 3 && processor->trap().pc == end; }

  Memory memory;
  std::unique_ptr<Processor> processor;
  uint64_t end;
};

}  // namespace exotune::sim
