#pragma once
// Skewing: rows that need the row before them run side by side, each some elements behind the one
// before. Start at jam_skewed.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i in seq(lo, hi): for j in seq(l, h): s(i, j)                     with rows = 2
///   ->  for io in seq(0, (hi - lo) / 2):
///           for j in seq(l, l + shift): s(i0, j)                          i0 = lo + 2 * io
///           for j in seq(l + shift, h): { s(i0, j) ; s(i0 + 1, j - shift) }
///           for j in seq(h, h + shift): s(i0 + 1, j - shift)
///       and the rows left over
///
/// A sweep whose elements need their left neighbour is one chain of operations; this makes `rows`
/// chains that a processor works on at once (Gauss-Seidel; wavefronts of a dynamic program). Made
/// of divide_loop, unroll_loop, shift_loop, cut_loop, reorder_stmts and fuse, each proved: a shift
/// too small for the dependences is refused. SchedulingError: the loop is not around exactly one
/// loop whose bounds stay, or the rows are too short.
/// Proposed for pairs of loops of which neither may change its order: 2, 4 or 8 rows, shifts of 1
/// and 2.
[[nodiscard]] ProcPtr jam_skewed(ProcPtr p, const Where& loop, int64_t rows, int64_t shift);

}  // namespace exotune
