#pragma once
// Gathering: sums that every iteration scatters over its neighbours' elements become sums of
// neighbours' terms, element by element. Start at gather_sums.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i in seq(0, n): for u in seq(0, r): y[i + u] += e(i, u)
///   ->  for i in seq(0, r - 1): for u in seq(0, i + 1): y[i] += e(i - u, u)
///       for i in seq(r - 1, n): for u in seq(0, r): y[i] += e(i - u, u)
///       for i in seq(n, n + r - 1): for u in seq(i - n + 1, r): y[i] += e(i - u, u)
///
/// An element of the middle takes all its terms at once, in a register: a product of polynomials, a
/// transposed convolution, sums of anti-diagonals. `along` is i and `over` u; either may stand
/// outside, with other loops around, between and inside, in every nest that is of nothing but loops
/// around one sum. y[i - u + r - 1] likewise, u going down. Of y[s * i + u], windows added up where
/// they overlap, u is taken in its s classes of remainders first (`ur`, outside), each of which is
/// such a sum.
///
/// With `rows` a longer `over`, or one of unknown length, is taken so many iterations at a time
/// (`uo`, outside): the corners are small, and the rest is gathered too where its length is known.
///
/// Made of reorder_loops, divide_loop, shift_loop, cut_loop and fission, each proved: that terms of
/// a sum may change places. Where it is not known whether `along` is as long as the corners need,
/// that is asked first (specialize), and what is shorter stays as it is.
/// SchedulingError: no nest is of this form, or a step is refused.
/// Proposed for sums into elements that two loops move: short windows as a whole, of long ones 8,
/// 16 or 32 rows at a time.
[[nodiscard]] ProcPtr gather_sums(ProcPtr p, const std::string& along, const std::string& over,
                                  int64_t rows = 0);

}  // namespace exotune
