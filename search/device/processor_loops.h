#pragma once
// Loops that a device leaves to the processor beside it: copies of operands in another order, what
// is done to sums before they are stored. Such a processor is small, and its compiler unrolls
// nothing by itself. Start at unrolled_loops.
#include <vector>

#include "search/moves/step.h"

namespace exotune {

/// From `p`, whose sizes are fixed: every innermost loop without instructions does several of its
/// iterations in one, once for each number that is tried. Empty where there is no such loop.
std::vector<Schedule> unrolled_loops(const ProcPtr& p);

/// Loops whose last iterations have shorter tiles than the others are cut there, the innermost
/// first, a few of them: what is left has tiles of one size, and no arithmetic of the processor
/// that finds it. What cannot be cut stays.
void cut_at_short_tiles(Schedule& s);

}  // namespace exotune
