#pragma once
// Triangles: a loop whose bound follows another loop's iterator is cut, for blocks of the other
// one, into the rectangle that the block has in common and a corner. Start at rectangle_and_corner.
#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// for i: .. for j in seq(0, i + 1): s
///   ->  for io: { for ii in seq(0, T): .. for j in seq(0, T * io): s               the rectangle
///                 for ii in seq(0, T): .. for j in seq(T * io + 1, T * io + ii + 1): s }   the
///                 corner
///       and the rows left over
///
/// also for lower bounds that follow (j in seq(i, N): the corner first). For the first such pair of
/// loops in the band of perfectly nested loops at `band`, by divide_loop, cut_loop and fission:
/// each proved. Nothing: there is no such pair, or a step was refused (`refusal` of the result's
/// steps is not kept: the caller has other moves).
///
/// With `squares` the corners are computed as squares in a buffer, so that register tiles fit them
/// (square_corner).
std::optional<Schedule> rectangle_and_corner(const Schedule& s, const Path& band, int64_t block,
                                             bool squares);

/// Is the loop that follows another one of the sum, and of no index of what is written? Then
/// corners are short sums, and not parts of vectors. False where there is no such pair.
bool triangle_is_summed(const Proc& p, const Path& band);

}  // namespace exotune
