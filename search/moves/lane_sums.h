#pragma once
// Sums whose lanes are added up late: dot products of narrow integers, and sums of short sums.
// Start at lane_sums_of.
#include <vector>

#include "search/moves/finishes.h"

namespace exotune {

/// for k: t += x[k] * w[k]  ->  by instructions that take groups of neighbours (optimize_dots), in
/// several accumulators, or for several rows of the loop around
/// for b: { t = 0 ; for k: t += e ; y += c * t }  ->  in lanes of y (optimize_sums_of_sums), or for
/// several rows of the loop around b
///
/// The other loops that vectors may run along become vectors as ever (optimize_level_1).
std::vector<Finish> lane_sums_of(const Outline& o, const Target& target,
                                 const ValueList& instructions);

}  // namespace exotune
