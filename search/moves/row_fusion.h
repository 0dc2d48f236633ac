#pragma once
// Row fusion: sweeps over the same rows become one sweep, each some rows behind the one before it.
// Start at fuse_rows.
#include "search/moves/step.h"

namespace exotune {

/// for i in seq(1, n): b[i] = f(a[i - 1 : i + 2]) ; for i in seq(1, n): a[i] = g(b[i - 1 : i + 2])
///   ->  for i in seq(1, 2): b[i] = ..
///       for i in seq(2, n): { b[i] = .. ; a[i - 1] = .. }
///       for i in seq(n, n + 1): a[i - 1] = ..
///
/// What one sweep wrote is read while it is near. Sweeps are neighbouring loops with literal bounds
/// in one block, at the top or in a loop that holds several of them; each is tried with as few rows
/// behind as the core allows (shift_loop, cut_loop, reorder_stmts, fuse: proved each), so halos
/// need not be known. With `steps` > 1 that many iterations of a loop around the sweeps are put one
/// behind the other first (divide_loop, unroll_loop): a wavefront over time. A schedule without
/// steps of its own: nothing fused.
Schedule fuse_rows(const Schedule& s, int steps);

/// Loops with literal bounds around several sweeps: what `steps` may be more than one for.
bool has_repeated_sweeps(const Proc& p);

}  // namespace exotune
