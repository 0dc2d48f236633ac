#pragma once
// Filters: sums over taps that slide along what they read, y[i] += x[i + k] * h[k]. Start at
// slides_along.
#include <optional>

#include "search/moves/panels.h"
#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// Vectors of taps in one window; what is longer comes in parts: a window is written out.
constexpr int64_t kLongestWindow = 8, kWindowOfAPart = 4;

/// Does the loop over a row move results by one element, and what the loop inside it over taps
/// reads by one as well, as that loop does one way or the other, and all else not at all? Indices
/// into the outline.
bool slides_along(const Outline& o, int row, int taps);

/// for i: { y[i] = 0 ; for k in seq(0, 33): y[i] += x[i + k] * h[k] }
///   ->  for i: { y[i] = 0 ; for k in seq(0, 32): y[i] += x[i + k] * h[k] }
///       for i: y[i] += x[i + 32] * h[32]                                   (cut_loop, fission)
///
/// For filters of two vectors of taps and more, so that windows of whole vectors (or half ones)
/// slide along all but a few; of long ones, whole parts. A row that the nearest cache does not hold
/// comes in strips (divide_loop), each of which is still there for the second pass. Nothing: there
/// is none with a rest, or the core refused.
std::optional<Schedule> whole_vectors_of_taps(const Schedule& s,
                                              const std::map<std::string, int64_t>& sizes,
                                              const NearestCaches& caches, int64_t lanes);

}  // namespace exotune
