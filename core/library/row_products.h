#pragma once
// Products of rows with rows: C = A B' where both factors are contiguous along the sum.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for i: for j: for k: y[i, j] += e(i, j, k)
///   ->  t[..] = 0.0 ; for kv: for ij: acc[ij] += e ; t[ij] += lanes of acc[ij] ; for i: for j:
///   y[i, j] += t[ij]
///
/// A tile of i and j, both of literal extents: vectors along `sum`, a register for each result. A
/// row of either factor is loaded once for all rows of the other one, and the registers' lanes are
/// added up several at once. Every loop over `outer` that holds nothing but one over `inner` that
/// holds nothing but one over `sum`. Extents whose product is more than the registers hold are not
/// refused. SchedulingError: there is no such nest, or what it adds to stays or jumps about.
/// Proposed for tiles of 2 to 8 by 2 to 8 rows, 16 results at most.
ProcPtr multiply_rows(ProcPtr p, const std::string& outer, const std::string& inner,
                      const std::string& sum, const VectorUnit& unit);

}  // namespace exotune
