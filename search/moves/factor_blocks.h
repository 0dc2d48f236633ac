#pragma once
// Factors brought ahead block by block: a copy that a product of large matrices wants anyway, and
// the factor with it. Start at with_factors_in_blocks.
#include <optional>

#include "search/moves/panels.h"
#include "search/steps/builders.h"

namespace exotune {

/// for i: for j: for k: C[i, j] += alpha * A[i, k] * B[k, j]
///   ->  for ko: { B_pack = B[D rows, ..] in strips ;
///                 for ib: { alpha_A = alpha * A[R rows, D columns] ;
///                           for i: for j: for k: C[i, j] += alpha_A[i, k] * B_pack[.., k, ..] } }
///
/// factors_ahead writes all of alpha * A and reads it again, row by row, once for each panel of the
/// sum; here a block of it fills half of the second cache and is read from there. D terms of a
/// strip, which is so many vectors wide, fill three quarters of the first cache: the deeper, the
/// less often C is visited. For the one nest of a procedure, of three loops with known bounds,
/// where B is larger than the second cache. Nothing: it is no such nest, its factor moves with j,
/// there is but one block, or the core refused.
std::optional<Schedule> with_factors_in_blocks(const Schedule& s, const NearestCaches& caches,
                                               const VectorValues& unit, int64_t vectors);

}  // namespace exotune
