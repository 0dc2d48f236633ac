#pragma once
// CodeCache: the program's code, decoded once into straight-line blocks that end where control may
// go elsewhere.
#include <cstdint>
#include <vector>

#include "runners/sim/decoder.h"
#include "runners/sim/device.h"
#include "runners/sim/memory.h"

namespace exotune::sim {

class CodeCache {
 public:
  CodeCache(const Isa& isa, const Memory& memory, const Device* device);

  /// Index of the block at `address`, decoded now if need be; 0 when the address is none of code.
  /// Pointers into code() are good until the next call that decodes.
  uint32_t find(uint64_t address);
  /// The same for a block that is decoded already; 0 for any other.
  uint32_t known(uint64_t address) const {
    const uint64_t k = (address - begin_) >> 1;
    return k < start_.size() ? start_[k] : 0;
  }
  const Instruction* code() const { return code_.data(); }
  void forget();

 private:
  Instruction decode_at(uint64_t address) const;
  const Isa isa_;
  const Memory& memory_;
  const Device* device_;
  uint64_t begin_;
  std::vector<uint32_t> start_;  // by halfword of code
  std::vector<Instruction> code_;
};

}  // namespace exotune::sim
