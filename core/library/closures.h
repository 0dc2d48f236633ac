#pragma once
// Closures: updates of a whole matrix by one of its own rows and columns after the other (shortest
// paths, reachability, elimination without pivots), in blocks of steps of which most work is a
// product. Start at block_closure.
#include "core/primitives/primitives.h"

namespace exotune {

/// for k: for i: for j: x[i, j] min= x[i, k] + x[k, j]
///   ->  for kb:                                                          blocks of `block` steps
///           for k in seq(0, block):
///               rows and columns of the block, step by step; what row and column k are when each
///               of the four other parts of the matrix reads them is kept: C[k, i], R[k, j]
///           for k: for i: for j: x[i, j] min= C[k, i] + R[k, j]          in each of the four parts
///       and the steps left over, alike
///
/// The rest of the matrix waits until a block of steps is done, and is then a product of what was
/// kept: its data come from far memory once a block instead of once a step. Any update that reads x
/// at [i, j], in column k and in row k. Made of divide_loop, cut_loop, fission, stage_mem,
/// expand_dim, lift_alloc and reorder_stmts, each proved from the places that are read and written
/// alone: nothing is assumed of the operations, or of the data.
///
/// SchedulingError: the loop is not around two loops, whose bounds stay, around one such update; a
/// step of the rewriting was refused.
///
/// Proposed for loops of that form whose iterations may not change their order: blocks that divide
/// the loop, of 32 to 64 steps.
[[nodiscard]] ProcPtr block_closure(ProcPtr p, const Where& loop, int64_t block);

}  // namespace exotune
