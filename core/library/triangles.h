#pragma once
// Schedules for triangles: a small triangle of sums is computed as a square that only the triangle
// leaves, so that register tiles and whole vectors fit it; a diagonal that was written apart joins
// its triangle. Start at square_corner.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i in seq(0, T): for j in seq(c, c + i + 1): { x[i, j] = 0.0 ; for k: x[i, j] += e }
///   ->  t : R[T, T]
///       for i in seq(0, T): for j in seq(0, T): t[i, j] = 0.0
///       for i in seq(0, T): for j in seq(0, T): for k: t[i, j] += e
///       for i in seq(0, T): for j in seq(c, c + i + 1): x[i, j] = t[i, j - c]
///
/// An array that e reads in two ways is copied for the one that stays along j; not without `apart`.
///
/// For every loop over `outer` of literal bounds that a bound of the loop over `inner` in it
/// follows, from above (as here) or from below; loops between them go inside. What the square has
/// more is computed in vain (extend_loop proves that nobody sees it): about as much work again, at
/// the speed of a product. Made of auto_stage_mem, expand_dim, lift_alloc, fission, reorder_loops,
/// extend_loop and shift_loop. SchedulingError: there is no such loop, the body writes more than
/// one element, or a step is refused (e reads out of bounds beyond the triangle).
/// Proposed for the corners that a cut triangle leaves, where register tiles then fit them.
[[nodiscard]] ProcPtr square_corner(ProcPtr p, const std::string& outer, const std::string& inner,
                                    bool apart = true);

/// for i: for j in seq(lo, d(i)): s(i, j) ; for i: s(i, d(i))
///   ->  for i: for j in seq(lo, d(i) + 1): s(i, j)
///
/// The diagonal of a triangle, whose sums were written apart (a factorization does something else
/// with its end), as the last column of it: a square then has whole vectors, and tiles compute what
/// would be a sum by itself in each row. Made of fuse, add_loop, shift_loop, rewrite_expr and
/// join_loops. SchedulingError: there are no two such nests behind one another, or a step is
/// refused (the second is not what the first does at its end).
/// Proposed for what a blocked recurrence takes out of a block.
[[nodiscard]] ProcPtr join_diagonal(ProcPtr p, const Where& loop);

}  // namespace exotune
