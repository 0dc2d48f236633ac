#pragma once
// Turned blocks: an array turned over by way of a small buffer. Start at turned_in_blocks.
#include <map>
#include <optional>
#include <string>

#include "search/moves/panels.h"
#include "search/moves/step.h"

namespace exotune {

/// for i: for j: y[j, i] = x[i, j]
///   ->  for ib: for jb: { b : T[R, R] ; for i: for j: b[j, i] = x[R * ib + i, R * jb + j]
///                         for j: for i: y[R * jb + j, R * ib + i] = b[j, i] }
///
/// Of arrays whose rows lie a power of two apart the columns of a block meet in few sets of every
/// cache, and what a prefetcher brings beside them is gone before it is read. The buffer has its
/// rows side by side: columns are written there, and whole rows of R elements leave it. It fills
/// half of the first cache. For a copy that is one nest, whose loops may have others around them,
/// with several such blocks each way. Nothing: it is no such copy, or the core refused.
std::optional<Schedule> turned_in_blocks(const Schedule& s,
                                         const std::map<std::string, int64_t>& sizes,
                                         const NearestCaches& caches, int64_t lanes);

/// for i: for j: y[i, j] = x[i, j] + x[j, i]
///   ->  for ib: for jb: { x_t : T[R, R] ; for i: for j: x_t[i, j] = x[R * jb + j, R * ib + i]
///                         for i: for j: y[R * ib + i, R * jb + j] = x[..] + x_t[i, j] }
///
/// What a nest reads across its result's rows, once or a few times: a block of it is turned over
/// first, in tiles where an instruction transposes. Blocks of one operand fill a quarter of the
/// first cache. Nothing: the nest is a copy (turned_in_blocks), reads nothing so, or the core
/// refused.
std::optional<Schedule> operands_turned_in_blocks(const Schedule& s,
                                                  const std::map<std::string, int64_t>& sizes,
                                                  const NearestCaches& caches, int64_t lanes);

}  // namespace exotune
