#pragma once
// Rows in lanes: loops whose rows know nothing of each other, while each row is a recurrence. Start
// at rows_to_lanes.
#include "core/primitives/primitives.h"

namespace exotune {

/// for i: { s: T ; s = 0 ; for j: { y[i, j] = f(x[i, j], s) ; s = y[i, j] } }        with lanes = 8
///   ->  for io:
///           s : T[8] ; for i in seq(0, 8): s[i] = 0
///           X : T[J, 8] ; X[j, i] = x[8 * io + i, j]
///           for j: { for i in seq(0, 8): Y[j, i] = f(X[j, i], s[i]) ; s[i] = Y[j, i] }
///           y[8 * io + i, j] = Y[j, i]
///       and the rows left over, alike
///
/// Vectorization of an outer loop: a recurrence along a row has no vectors, but eight rows are
/// eight recurrences at once (recursive filters, running sums, tridiagonal systems). What a row
/// allocates gets a dimension of lanes; the rows go inside every loop; arrays whose rows lie apart
/// pass through buffers `x`_lanes with the rows as last dimension, over all that the block's
/// statements touch. Made of divide_loop, expand_dim, lift_alloc, fission, reorder_loops, stage_mem
/// and rearrange_dim, each proved; a buffer that is refused leaves its array as it was.
///
/// SchedulingError: fewer than two lanes; rows that may not run side by side (they could not go
/// inside any loop).
///
/// Proposed for loops of independent rows around a loop that needs its own earlier iterations:
/// 1, 2 and 4 vectors of rows.
[[nodiscard]] ProcPtr rows_to_lanes(ProcPtr p, const Where& loop, int64_t lanes);

/// for r: for i: { for k in seq(0, i): s(i, k, r) ; t(i, r) }
///   ->  for i: { for k in seq(0, i): for r: s(i, k, r) ; for r: t(i, r) }
///
/// A loop of independent iterations goes inside every loop that it may go into (fission,
/// reorder_loops); what its body allocates gets a dimension for it. A recurrence that
/// many right-hand sides stand around is then one recurrence over rows of them.
/// SchedulingError: it may go inside no loop.
///
/// Proposed for loops of independent iterations around a loop that needs its own earlier ones.
[[nodiscard]] ProcPtr sink_loop(ProcPtr p, const Where& loop);

}  // namespace exotune
