#pragma once
// A triangle cut into few large rectangles, for caches that do not hold it. Start at
// triangle_in_blocks.
#include <cstdint>
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for i: for k in seq(0, i): for j: C[i, j] += A[i, k] * B[k, j]
///   ->  for kb: { for i in seq(T * kb, T * kb + T): for k in seq(T * kb, i): for j: ..  the corner
///                 for k in seq(0, T): for i in seq(T * kb + T, M): for j: .. }      the rectangle
///
/// Of the two loops that of the rows goes inside (reorder_loops), and the other one is cut into
/// blocks of about `block` (rectangle_and_corner): few rectangles, as long as the triangle, of
/// whose loops two have fixed bounds, so that they are cut for the caches and packed as any
/// product. The corners have their loops in the order that they had, cut once more into blocks of
/// `corner_block` rows where that is not 0. Also where lower bounds follow (k in seq(i, M):
/// rectangles of the rows before a block), and where rows must come in order, as long as the core
/// proves each step. Nothing: no single product, less than four blocks, or a step was refused.
std::optional<Schedule> triangle_in_blocks(const Schedule& s, const Path& band, int64_t block,
                                           int64_t corner_block = 0);

}  // namespace exotune
