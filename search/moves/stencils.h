#pragma once
// Stencils: what the reads of a loop's statements have in common. Start at neighbours_along.
#include <set>

#include "hw/target.h"
#include "search/outline/outline.h"

namespace exotune {

struct Neighbours {
  /// Two reads of one row begin less than a vector apart: one is the other one, shifted.
  bool in_row = false;
  /// Loops, in program order, of which a later iteration reads rows that an earlier one read.
  std::set<int> across;
};

/// Of the reads of the innermost loop `loop`, a number in `o`: those of one buffer at distances
/// that are the same in every iteration.
Neighbours neighbours_along(const Outline& o, const Target& target, int loop);

/// Does some innermost loop have neighbours of either sort?
bool reads_neighbours(const Outline& o, const Target& target);

/// Is the instruction `for i: dst[i] = src[n - i]`? Reads may then go back where vectors go on.
bool loads_reversed(const Proc& instr);

}  // namespace exotune
