#pragma once
// Row blocks: what each row of a loop computes in arrays of its own becomes nests over some rows at
// a time. Start at distributed_in_blocks.
#include <map>
#include <optional>
#include <string>

#include "search/moves/panels.h"
#include "search/moves/step.h"

namespace exotune {

/// for i: { p : T[N] ; for j: { p[j] = 0 ; for d: p[j] += .. } ; for j: .. ; for j: for d: .. p[j]
/// }
///   ->  for ib: { p : T[R, N] ; for i in seq(0, R): for j: p[i, j] = 0 ; ... ; for i: for j: .. }
///
/// Rows of attention, say: for one row each nest is a product of a vector, for R rows one of a
/// matrix, and what they keep meanwhile stays in a quarter of the second cache, which all rows'
/// does not (divide_loop; distribute, with the arrays expanded, inside the block). R divides the
/// rows where some number does, and is 16 at least. Of a loop inside another one all rows are a
/// block where they fit. For every outermost loop of independent rows that holds several nests and
/// an array. Nothing: there is no such loop, or the core refused.
std::optional<Schedule> distributed_in_blocks(const Schedule& s,
                                              const std::map<std::string, int64_t>& sizes,
                                              const NearestCaches& caches);

}  // namespace exotune
