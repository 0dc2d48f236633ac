#pragma once
// Shared passes: nests that go through one array, each in its own order, go through it together.
// Start at share_passes.
#include "search/moves/step.h"

namespace exotune {

/// for i: for j: x[i] += a[i, j] * u[j] ; for i: for j: y[i] += a[j, i] * v[j]
///   ->  for i: for j: { x[i] += a[i, j] * u[j] ; y[j] += a[i, j] * v[i] }
///
/// What is larger than a cache is then fetched once. Nests at the top whose loops are the
/// dimensions of an array that both touch: the loops of each come in the order of the dimensions
/// (reorder_loops), what stands between the nests goes in front of or behind them (reorder_stmts),
/// and all loops become one band (fuse: proved each). Of several such arrays the largest counts. A
/// schedule without steps of its own: nothing shared.
Schedule share_passes(const Schedule& s);

}  // namespace exotune
