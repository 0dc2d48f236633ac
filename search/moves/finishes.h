#pragma once
// Finishes: what turns a nest in a good order into vector code, the same for every nest. Start at
// finishes_of.
#include "hw/target.h"
#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// One way to end a schedule: calls of library operators, each with its values.
struct Finish {
  std::string name;  // "rows=4"
  Steps steps;
  bool together = false;    // a refused step ends it; else the others stand without it
  bool for_caches = false;  // it is there for what the cost model does not see
};

/// The ways that fit the innermost loops of the procedure: whole vectors along them with guarded
/// rests (optimize_level_1), several rows at a time (optimize_level_2), sums in registers while
/// rows go by (optimize_columns), transposing copies in register tiles (tile_to_instr), also in
/// blocks of whole cache lines, loops around short ones (unroll_loop, then vectors along them),
/// filters along a row in tiles of vectors (sum_block with a window), sums of narrow integers and
/// of short sums (lane_sums_of). The values come from the target: lanes by the precision of what is
/// written, registers for how many at once. The empty finish leaves vectors to the C compiler and
/// is always among them. `instructions` as a script's `instrs`.
std::vector<Finish> finishes_of(const Outline& o, const Target& target,
                                const std::vector<TargetLevel>& levels,
                                const ValueList& instructions);

}  // namespace exotune
