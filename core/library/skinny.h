#pragma once
// Schedules for matrix-vector kernels with few columns: the vector that every row uses stays in
// registers for the whole nest. Exo 2 section 6.2.2 (skinny matrices), figure 7.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for i: for j in seq(0, n): s(v[j])
///   ->  if n <= L: w = v; for i: { s(w) }; v = w          (w: one register of L lanes)
///       else if n <= 2 * L: ...                           (two registers)
///
/// One case per number of registers, in which that number is a literal: the vectors that the loop
/// over `inner` runs along in every iteration of the loop over `outer` (those written, then those
/// read, of one type and at one place) are loaded once, and every vector of the inner loop but the
/// last is whole. `vectors` is the largest number of registers of each; 0: the one that the asserts
/// allow, at most 16. SchedulingError when n is not known to be at most vectors * L, or no vector
/// is used again.
/// Proposed for strips of what rows share, of 1 to 16 vectors; block_loop cuts them.
ProcPtr opt_skinny(ProcPtr p, const std::string& outer, const std::string& inner,
                   const VectorUnit& unit, int64_t vectors = 0);

}  // namespace exotune
