#pragma once
// ElfImage: a statically linked bare-metal RISC-V program as a file has it.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runners/sim/memory.h"

namespace exotune::sim {

struct ElfImage {
  struct Segment {
    uint64_t address = 0, bytes = 0;  // in memory; what the file does not give is zero
    std::string content;
    bool executable = false, writable = false;
  };
  int xlen = 64;
  uint64_t entry = 0;
  std::vector<Segment> segments;            // that are loaded
  std::map<std::string, uint64_t> symbols;  // of any kind but sections and files

  /// Refuses (InputError) what is no little-endian RISC-V executable, or is cut off.
  static ElfImage read(const std::string& path);
  static ElfImage parse(const std::string& bytes, const std::string& name);

  /// Copies the segments into `memory`, whose code becomes the executable ones and whose writable
  /// part starts at the first writable segment. InputError when one does not fit.
  void load(Memory& memory) const;
  /// "kernel+0x1c" for an address inside code; "" without symbols.
  std::string locate(uint64_t address) const;
  /// 0 when there is none.
  uint64_t symbol(const std::string& name) const;
};

}  // namespace exotune::sim
