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

}  // namespace exotune
