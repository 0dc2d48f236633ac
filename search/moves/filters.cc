#include "search/moves/filters.h"

#include <algorithm>

#include "core/ir/normal_form.h"

namespace exotune {

bool slides_along(const Outline& o, int row, int taps) {
  bool some = false;
  for (const OutlineAccess& a : o.accesses) {
    if (std::find(a.loops.begin(), a.loops.end(), row) == a.loops.end()) continue;
    const auto along = o.stride(a, row);
    const bool inside = a.loops.back() == taps;
    if (a.writes()) {
      if (along != 1 || (inside && o.stride(a, taps) != 0)) return false;
    } else if (along != 0 && along != 1) {
      return false;
    }
    const int64_t step = inside ? o.stride(a, taps).value_or(0) : 0;
    some = some || (!a.writes() && along == 1 && (step == 1 || step == -1));
  }
  return some;
}

std::optional<Schedule> whole_vectors_of_taps(const Schedule& s,
                                              const std::map<std::string, int64_t>& sizes,
                                              const NearestCaches& caches, int64_t lanes) {
  const Outline o = outline_of(*s.proc, sizes);
  Schedule out = s;
  // The last first: places in front of it stay.
  for (int k = static_cast<int>(o.loops.size()) - 1; k >= 0; --k) {
    const OutlineLoop& taps = o.loops[static_cast<size_t>(k)];
    const auto count = as_int(taps.hi);
    if (taps.parent < 0 || !taps.children.empty() || as_int(taps.lo) != 0 || !count ||
        !slides_along(o, taps.parent, k))
      continue;
    const bool in_parts = *count > kLongestWindow * lanes;
    const int64_t whole = in_parts ? kWindowOfAPart * lanes : lanes;
    if (*count < 2 * lanes || (in_parts ? 1 : 2) * *count % whole == 0) continue;
    Schedule made = out;
    const OutlineLoop& row = o.loops[static_cast<size_t>(taps.parent)];
    Path loop = taps.path;
    if (const int64_t strip = strip_of(caches); as_int(row.hi).value_or(0) >= 2 * strip) {
      const std::string name = row.iter.name();
      if (apply(made, "divide_loop",
                {Value(Cursor::stmt(made.proc, row.path)), Value(strip),
                 Value::strings({name + "o", name}), Value("cut")}))
        continue;
      loop.insert(loop.begin() + static_cast<std::ptrdiff_t>(row.path.size()), {Child::kBody, 0});
    }
    if (apply(made, "cut_loop",
              {Value(Cursor::stmt(made.proc, loop)), Value(*count / whole * whole)}) ||
        apply(made, "fission", {Value(Cursor::stmt(made.proc, loop))}))
      continue;
    out = std::move(made);
  }
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace exotune
