#pragma once
// Rows that the windows of neighbouring results share, each read once for all of them. Made of
// primitives only. Start at window_rows; sum_block.h has the tile that it is part of.
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

struct WindowRows {
  ProcPtr proc;
  std::vector<Path> rows;  // the loops over columns, one for each row that is read, in order
};

/// for r in seq(0, K): for i in seq(0, R): for j: s[i, j] += f(x[a * i + b * r, j])
///   ->  for each row q = a * i + b * r, in the direction of r:
///         for j: { v = x[q, j]; s[i, j] += f(v) for each i and r of it }
///
/// `window`: the loop over r, which has nothing in it but that over i, both of literal extent, and
/// sums under the loop over j. All is written out; what the statements of a row read alike is read
/// once. Each sum takes its terms in the order it had: nothing is reassociated.
/// SchedulingError: nothing that is read moves with both; more than 1024 sums.
/// Cost: a proof for each two statements that change places, at most (K R)^2 / 2.
[[nodiscard]] WindowRows window_rows(ProcPtr p, const Path& window);

}  // namespace exotune
