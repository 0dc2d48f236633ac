#pragma once
// Loops that tiles of one size do not divide: cut where the last whole tile ends, so that the
// instructions do the tiles and the processor what is left. Start at cut_to_whole_tiles.
#include "core/ir/proc.h"
#include "search/device/instruction_set.h"

namespace exotune {

/// `p`, whose sizes are fixed, with each loop of its products that is longer than a tile and no
/// multiple of it cut in two, and what is left in nests of its own. Steps of the core, so the trace
/// of `p` goes on. Null: nothing to cut, tiles of any size, or a cut that does not hold.
ProcPtr cut_to_whole_tiles(const ProcPtr& p, const DeviceInstructions& device);

}  // namespace exotune
