#pragma once
// The C extension: 16-bit forms of ordinary instructions.
#include <cstdint>

#include "runners/sim/decoder.h"

namespace exotune::sim {

/// The 32-bit instruction that `half` abbreviates, or 0 when there is none (reserved forms
/// included).
uint32_t expand_compressed(uint16_t half, const Isa& isa);

}  // namespace exotune::sim
