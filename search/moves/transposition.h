#pragma once
// Transposition: operands that a nest reads across their rows are copied so that it reads along
// them; results that it writes across theirs go through a copy. Start at transpose_operands.
#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// for i: for j: for k: C[i, j] += A[i, k] * B[j, k]
///   ->  B_t[k, j] = B[j, k] ; for i: for j: for k: C[i, j] += A[i, k] * B_t[k, j]     (stage_view)
///
/// For each buffer that the nest at the top (`nest`) only reads, that steps over whole rows along
/// the loop in which the result is contiguous, and each element of which is read at least
/// `least_reuse` times. Nothing: there is none, or all were refused.
std::optional<Schedule> transpose_operands(const Schedule& s, const Cursor& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           double least_reuse = 4);

/// for i: for j: for k: C[i, j] += A[i, k] * B[k, j]
///   ->  B_t[j, k] = B[k, j] ; for i: for j: for k: C[i, j] += A[i, k] * B_t[j, k]     (stage_view)
///
/// Where the loop in which the result is contiguous has at most half as many iterations as vectors
/// have `lanes`: vectors along the sum instead, if another operand lies so. Nothing: as above.
std::optional<Schedule> transpose_for_sums(const Schedule& s, const Cursor& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           int64_t lanes, double least_reuse = 4);

/// for b: { for i: for j: for k: y[b, i, j] += x[b, i, k] * c[j, k] ; .. }
///   ->  c_t[k, j] = c[j, k] ; for b: { .. c_t[k, j] .. ; .. }                         (stage_view)
///
/// The same for the nests inside each loop at the top: what is the same in all its iterations is
/// turned once, in front of it (the matrix of a transform, of many small systems).
std::optional<Schedule> transpose_constants(const Schedule& s,
                                            const std::map<std::string, int64_t>& sizes,
                                            double least_reuse = 4);

/// for i: for k: for c: for r: y[k, 2 * i + r] += x[c, i] * w[c, k, r]
///   ->  y_t[d, k] = y[k, d] ; the nest, into y_t ; y[k, d] = y_t[d, k]   (stage_mem,
///   rearrange_dim)
///
/// For a buffer that the nest at the top (`nest`) writes, where no loop of at least `lanes`
/// iterations runs along its last dimension, and one does along another; each element is touched
/// at least `least_reuse` times, so that vectors of it are worth both copies. Nothing: it is
/// otherwise, or refused.
std::optional<Schedule> transpose_results(const Schedule& s, const Cursor& nest,
                                          const std::map<std::string, int64_t>& sizes,
                                          int64_t lanes, double least_reuse = 4);

/// The loop in which what the nest writes lies side by side, the busiest one; -1: none. Of buffers
/// that are its own only where it writes no other so.
int contiguous_loop(const Outline& o, const Path& nest);

}  // namespace exotune
