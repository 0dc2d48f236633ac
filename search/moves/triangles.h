#pragma once
// Triangles: a loop whose bound follows another loop's iterator is cut, for blocks of the other
// one, into the rectangle that the block has in common and a corner. Start at rectangle_and_corner.
#include "search/moves/step.h"
#include "search/outline/outline.h"
#include "search/steps/builders.h"

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
/// Corners may be computed as squares in a buffer, so that register tiles fit them (square_corner).
enum class Corners : uint8_t { kTriangles, kSquares, kSquaresOfOneOperand };
std::optional<Schedule> rectangle_and_corner(const Schedule& s, const Path& band, int64_t block,
                                             Corners corners);

/// for n: for i: for j in seq(0, i + 1): C[i, j] += ..  ->  for i: for j in seq(0, i + 1): for n:
/// ..
///
/// A triangle of sums, one outer product after the other: with the sum inside, its blocks stay in
/// registers. Nothing: the outermost loop of the band is no sum around a triangle, or the core
/// refused.
std::optional<Schedule> triangle_with_sum_inside(const Schedule& s, const Path& band);

/// for i: for j: for k in seq(0, i + 1): C[i, j] += L[i, k] * B[k, j]
///   ->  for js: { B_pack[..] = B[.., 16 * js : 16 * js + 16]
///                 for i: for j in seq(0, 16): for k in seq(0, i + 1): .. B_pack .. }
///
/// What all rows of a triangle share, strip by strip of `width` elements along the vectors and
/// packed (block_loop, pack_operand), and the loop to cut in it: every block of rows finds the
/// strip in the nearest cache, and none packs it again. Where vectors run along neither of the two
/// loops.
struct StripOfTriangle {
  Schedule schedule;
  Path band;  // of the loops inside the strips
};
std::optional<StripOfTriangle> triangle_in_strips(const Schedule& s, const Path& band,
                                                  int64_t width, const VectorValues& unit);

/// for i: for j in seq(0, i + 1): for k: C[i, j] += A[i, k] * A[j, k]
///   ->  A_s[s, k, t] = A[8 * s + t, k]
///       for ib: { for i: for jo: for j in seq(0, 8): for k: C[..] += A[.., k] * A_s[jo, k, j]
///                 and the corner, a square, likewise }
///
/// rectangle_and_corner where vectors run along the loop that follows: what the rows share lies in
/// strips of `width` elements, once for all blocks (stage_view), and both parts take it strip by
/// strip. Where every element is read `least_reuse` times at least. What lies side by side along
/// the columns, and takes `near_bytes` at most, is read where it lies, a strip of it at a time.
/// Nothing: there is no such operand, or a step was refused.
///
/// `per_tile` > 1: a rectangle goes as many strips at a time, and what is left of them one by
/// one: blocks may be as low as a strip is wide, which is what a square computes for nothing.
///     for jb: for i: for j in seq(0, 24): ..   ;   for i: for jo: for j in seq(0, 8): ..
struct StripShape {
  int64_t block = 0;     // rows
  int64_t width = 0;     // elements of a strip
  int64_t per_tile = 1;  // those of a rectangle that are summed at once
};
std::optional<Schedule> triangle_of_strips(const Schedule& s, const Path& band,
                                           const std::map<std::string, int64_t>& sizes,
                                           const StripShape& strips, int64_t near_bytes = 0,
                                           double least_reuse = 16);

/// Is the loop that follows another one of the sum, and of no index of what is written? Then
/// corners are short sums, and not parts of vectors. False where there is no such pair.
bool triangle_is_summed(const Proc& p, const Path& band);

}  // namespace exotune
