#pragma once
// Gathers: sums that are scattered over overlapping windows, element by element. Start at
// gathered_sums_of.
#include <map>
#include <string>
#include <vector>

#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// for i: for j: for u: for v: y[i + u, j + v] += x[i, j] * w[u, v]
///   ->  for u: for v: .. y[i, j] += x[i - u, j - v] * w[u, v], and borders    (gather_sums)
///
/// For every pair of loops that both move one dimension of what is summed, the longer of the two
/// along the elements, unless only the other one runs along what is read. Short windows are
/// gathered as they are; where one is long or of unknown length, one schedule each for 16, 8 and 32
/// rows of it at a time. Where another loop sums eight terms and more of each element (channels),
/// only the last dimension is gathered, which vectors run along. None: there is no such pair, or
/// the core refused.
std::vector<Schedule> gathered_sums_of(const Schedule& s,
                                       const std::map<std::string, int64_t>& sizes);

/// Is there such a pair of loops?
bool scatters_sums(const Outline& o);

}  // namespace exotune
