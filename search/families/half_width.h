#pragma once
// The vectors of half a target's width that its CPU has, too: those of another target.
#include <string>

#include "hw/target.h"

namespace exotune::families {

/// The target beside `target` (in the same folder of targets) that runs here, too, wherever that
/// one does, with vectors of half the bits; the first by name, null when there is none.
TargetPtr half_width_of(const Target& target);

/// What scripts call its instructions: "instrs_avx2".
std::string instructions_name(const Target& half);

}  // namespace exotune::families
