#include "search/short_rows.h"

#include <algorithm>

namespace exotune {

namespace {

// Of single elements, or of the two to four components of each.
bool is_row(int64_t stride) { return stride >= 1 && stride <= 4; }

}  // namespace

bool fills_lanes(std::optional<int64_t> extent, int64_t lanes) {
  constexpr int64_t kPart = 8;  // of a vector: two floats of sixteen lost by half to single ones
  return !extent || kPart * *extent > lanes;
}

bool has_rows_of_half(const Outline& o, const Target& target) {
  return std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    const int64_t lanes = target.lanes_of(a.scalar), half = lanes / 2;
    return half > 1 && std::any_of(a.loops.begin(), a.loops.end(), [&](int loop) {
             const auto extent = o.loops[static_cast<size_t>(loop)].extent;
             return extent && (*extent == half || *extent == lanes + half) &&
                    is_row(o.stride(a, loop).value_or(0));
           });
  });
}

}  // namespace exotune
