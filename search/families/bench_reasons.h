#pragma once
// Why a point of a library's benchmark is as slow as it is, as far as the other points tell. Start
// at bound_of.
#include <string>
#include <vector>

#include "search/families/library_bench.h"

namespace exotune::families {

/// What bounds `point`, of all that were measured: "the call: 21 of 33 ns", "bandwidth: 41 of 44
/// GB/s", "partial vectors", "38 % of the rate of large sizes".
///
/// A call is dear where the same routine at its smallest size takes half as long. Bandwidth is
/// compared with the best of those of levels 1 and 2 that touch as much memory, within a factor of
/// two. Partial vectors are named for less than eight vectors of `vector_bytes`.
std::string bound_of(const BenchPoint& point, const std::vector<BenchPoint>& points,
                     int vector_bytes);

}  // namespace exotune::families
