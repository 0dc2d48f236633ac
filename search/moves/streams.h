#pragma once
// Streams: one long pass over memory as several side by side, far apart. Start at in_streams.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "search/moves/panels.h"
#include "search/moves/step.h"

namespace exotune {

/// for i in seq(0, N): s(i)
///   ->  for is in seq(0, 4): for i in seq(0, Q): s(Q * is + i) ; for i in seq(0, N - 4 * Q): ..
///
/// and where s adds to something that stays,
///   ->  acc[..] = 0 ; for i: for is: acc[is] += .. ; for is: r += acc[is] ; ..
///
/// Rows that can be taken several at a time: prefetchers follow each of them, and bring more in
/// together than of one. 4 parts, 8 and 2, whose beginnings lie spread over a page (`page` bytes),
/// so that they do not meet in the sets of the first cache. For every top-level loop of known
/// extent without loops inside, all of whose arrays go on by one element, or a few, where they are
/// larger than a quarter of the last cache. Independent rows of no more than a page, whatever is
/// inside, are taken in turn from each of the parts:
///
/// for i in seq(0, M): s(i)  ->  for i in seq(0, Q): for is in seq(0, 4): s(Q * is + i) ; ..
///
/// None: there is no such loop, or the core refused.
std::vector<Schedule> in_streams(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                                 const NearestCaches& caches, int64_t page);

}  // namespace exotune
