#pragma once
// Distribution: imperfect nests become nests of their own, as far as dependences allow. Start at
// distribute.
#include "search/moves/step.h"

namespace exotune {

/// for i: { x[i] = e; for j: s }  ->  for i: x[i] = e ; for i: for j: s      (fission)
///
/// From the inside out, at every gap of a loop's body that has a nest on one side at least;
/// statements that are one loop's elements stay together. With `expand`, what a loop's body
/// allocates gets a dimension for that loop where that is what keeps the parts together
/// (expand_dim, lift_alloc): of a triangle's row that of the longest one; a few elements of each
/// iteration lie side by side over the iterations (rearrange_dim). Two sums into different arrays
/// under three loops part then, too. Statements that write elements of different widths part in any
/// case, and what their loop allocates gets a dimension for it: vectors of each have their own
/// number of lanes. Where a gap
/// is refused, one statement is tried behind all that follow it (reorder_stmts). Refusals are part
/// of it and leave the place as it was.
Schedule distribute(Schedule s, bool expand);

/// for i: s1 ; for i: s2  ->  for i: { s1; s2 }   for neighbours at the top that may, and whose
/// loops run alike: what was written apart and uses the same data is read once. Outer loops only.
Schedule fuse_neighbours(Schedule s);

}  // namespace exotune
