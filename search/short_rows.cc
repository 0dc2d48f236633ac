#include "search/short_rows.h"

#include <algorithm>

namespace exotune {

bool has_rows_of_half(const Outline& o, const Target& target) {
  return std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    const int64_t lanes = target.lanes_of(a.scalar), half = lanes / 2;
    return half > 1 && std::any_of(a.loops.begin(), a.loops.end(), [&](int loop) {
             const auto extent = o.loops[static_cast<size_t>(loop)].extent;
             return extent && (*extent == half || *extent == lanes + half) &&
                    o.stride(a, loop) == 1;
           });
  });
}

}  // namespace exotune
