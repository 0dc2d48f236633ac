#pragma once
// The vectors of half a target's width that its CPU has, too: those of another target. Rows of
// half a vector need no masks with them. Start at half_width_of.
#include "hw/target.h"

namespace exotune {

/// The target beside `target` (in the same folder of targets) that runs here, too, wherever that
/// one does, with vectors of half the bits; the first by name, null when there is none. Its
/// instructions are in a list of their own (InstrInfo::list, "instrs_avx2"); it stores nothing past
/// the caches and estimates nothing. Reads the folder anew at each call.
TargetPtr half_width_of(const Target& target);

}  // namespace exotune
