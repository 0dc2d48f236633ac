#include "search/moves/windows.h"

#include <algorithm>

#include "search/outline/outline.h"

namespace exotune {

namespace {

// A loop of a window, and the loop of the result that moves the window in the same dimension.
struct Direction {
  int window = 0, result = 0;
  double overlap = 0;  // iterations of `window` for one of `result`
};

class Windows {
 public:
  Windows(const Schedule& s, const std::map<std::string, int64_t>& sizes)
      : s_(s), o_(outline_of(*s.proc, sizes)) {}

  std::vector<Schedule> run() {
    for (const OutlineAccess& a : o_.accesses) {
      const OutlineAccess* to = a.writes() ? nullptr : sum_of(a);
      if (!to) continue;
      const std::vector<Direction> all = directions(a, *to);
      for (const Direction& first : all)
        for (const Direction& second : all)
          if (first.window != second.window && second.overlap > 1 && alone(a, first.window)) {
            // All rows of sums first, which their readers find in the cache; else one row in front
            // of its readers, who wait for stores that they overlap.
            ahead(a, first, std::min(first.result, second.result));
            ahead(a, first, second.result);
          }
    }
    return std::move(out_);
  }

 private:
  // The element that the access is summed into.
  const OutlineAccess* sum_of(const OutlineAccess& a) const {
    for (const OutlineAccess& b : o_.accesses)
      if (b.what.stmt == a.what.stmt && b.writes() && b.what.kind != Access::Kind::kWrite)
        return &b;
    return nullptr;
  }
  const OutlineLoop& loop(int k) const { return o_.loops[static_cast<size_t>(k)]; }

  // Each dimension that a loop of the result and one of the sum move together.
  std::vector<Direction> directions(const OutlineAccess& a, const OutlineAccess& to) const {
    std::vector<Direction> out;
    for (const ExprPtr& e : a.what.idx) {
      Direction d{-1, -1, 0};
      for (const int k : a.loops)
        if (mentions(e, loop(k).iter)) (o_.stride(to, k) == 0 ? d.window : d.result) = k;
      if (d.window < 0 || d.result < 0) continue;
      const auto inner = o_.stride(a, d.window), outer = o_.stride(a, d.result);
      if (!inner || !outer || *inner <= 0 || *outer <= 0) continue;
      const double steps = static_cast<double>(*outer) / static_cast<double>(*inner);
      d.overlap = loop(d.window).trips / steps;
      out.push_back(d);
    }
    return out;
  }

  // Nothing else in the statement knows the loop.
  bool alone(const OutlineAccess& a, int window) const {
    return std::none_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& b) {
      return &b != &a && b.what.stmt == a.what.stmt && o_.stride(b, window) != 0;
    });
  }

  // The window's loop in front of `nest`. Loops are in order, outer before inner.
  void ahead(const OutlineAccess& a, const Direction& first, int nest) {
    const std::pair<Path, Path> place{loop(first.window).path, loop(nest).path};
    if (std::find(seen_.begin(), seen_.end(), place) != seen_.end()) return;
    seen_.push_back(place);
    Schedule made = s_;
    if (apply(made, "reduce_ahead",
              {Value(Cursor::stmt(made.proc, loop(nest).path)),
               Value(Cursor::stmt(made.proc, loop(first.window).path)),
               Value(a.what.buffer.name() + "_sums")}))
      return;
    out_.push_back(std::move(made));
  }

  const Schedule& s_;
  const Outline o_;
  std::vector<std::pair<Path, Path>> seen_;
  std::vector<Schedule> out_;
};

}  // namespace

std::vector<Schedule> windows_ahead(const Schedule& s,
                                    const std::map<std::string, int64_t>& sizes) {
  return Windows(s, sizes).run();
}

}  // namespace exotune
