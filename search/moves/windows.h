#pragma once
// Windows: sums and maxima over windows that overlap, one direction after the other. Start at
// windows_ahead.
#include <map>
#include <string>
#include <vector>

#include "search/moves/step.h"

namespace exotune {

/// for i: for j: { .. ; for r: for s: y[i, j] += x[2 * i + r, 2 * j + s] ; .. }
///   ->  for i: for w: { t[i, w] = 0.0 ; for r: t[i, w] += x[2 * i + r, w] }
///       for i: for j: { .. ; for s: y[i, j] += t[i, 2 * j + s] ; .. }             (reduce_ahead)
///
/// One schedule for each such loop `r`, in front of all rows and in front of each one: where
/// windows of the other direction overlap (more of `s` than `j` steps by), what they share is
/// summed once, and elements far apart are read from sums in a row. Of `r` and `s` no other
/// operand may know. Empty: there are none, or the core refused.
std::vector<Schedule> windows_ahead(const Schedule& s, const std::map<std::string, int64_t>& sizes);

}  // namespace exotune
