#pragma once
// From machine words to decoded instructions. Start at decode; a compressed instruction becomes the
// operation it abbreviates.
#include <cstdint>
#include <string>

#include "runners/sim/operation.h"

namespace exotune::sim {

/// What the simulated processor has: "rv32imc", "rv64imafdc". Refuses (InputError) letters that
/// the simulator does not know.
struct Isa {
  int xlen = 64;
  bool multiply = false, atomic = false, single = false, twice = false, compressed = false;
  static Isa parse(const std::string& text);
};

/// The instruction whose first halfwords are `word` (the upper half counts only where the lower
/// says so). Anything that `isa` lacks is kIllegal with `immediate` the word; custom words too:
/// devices are asked by the caller.
Instruction decode(uint32_t word, const Isa& isa);

/// 4, or 2 for a compressed instruction.
inline int length_of(uint32_t word) { return (word & 3) == 3 ? 4 : 2; }

}  // namespace exotune::sim
