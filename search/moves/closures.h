#pragma once
// Closures: loops over steps that change a whole matrix by one of its rows and columns, in blocks
// of steps. Start at blocks_of_closures.
#include <vector>

#include "search/moves/step.h"

namespace exotune {

/// for k: for i: for j: x[i, j] min= x[i, k] + x[k, j]  ->  block_closure(k), for every such loop
/// whose iterations may not change their order: one schedule for each size of blocks worth trying,
/// whole pairs of vectors of `lanes` elements, what divides the loop first. None: there is no such
/// loop, or the core refused.
std::vector<Schedule> blocks_of_closures(const Schedule& s, int64_t lanes);

}  // namespace exotune
