#include "search/moves/gathers.h"

#include <algorithm>

#include "core/ir/normal_form.h"

namespace exotune {

namespace {

constexpr int64_t kShortWindow = 16;  // terms that an element takes at once
constexpr double kManyTerms = 8;      // that a loop sums anyway: for so many a register is enough

// Two loops that move an element that is summed into.
struct Overlap {
  std::string along, over;
  bool is_long = false;  // `over` has to be taken some rows at a time
};

class Overlaps {
 public:
  explicit Overlaps(const Outline& o) : o_(o) {}

  std::vector<Overlap> run() {
    for (const OutlineAccess& a : o_.accesses) {
      if (!a.writes() || a.what.kind == Access::Kind::kWrite) continue;
      // Where a loop goes on at the same element there is a sum without the window; vectors still
      // have to run along something.
      const bool summed = !a.what.idx.empty() && terms_of(a) >= kManyTerms;
      for (size_t d = summed ? a.what.idx.size() - 1 : 0; d < a.what.idx.size(); ++d)
        add(a, a.what.idx[d]);
    }
    return std::move(out_);
  }

 private:
  struct Mover {
    int loop = 0;
    int64_t coeff = 0;
  };
  const OutlineLoop& loop(int k) const { return o_.loops[static_cast<size_t>(k)]; }

  // Iterations of the loops that stay at one element.
  double terms_of(const OutlineAccess& a) const {
    double terms = 1;
    for (const int k : a.loops)
      if (std::none_of(a.what.idx.begin(), a.what.idx.end(),
                       [&](const ExprPtr& index) { return mentions(index, loop(k).iter); }))
        terms *= loop(k).trips;
    return terms;
  }

  void add(const OutlineAccess& a, const ExprPtr& index) {
    const std::optional<Affine> form = affine(index);
    if (!form) return;
    std::vector<Mover> movers;
    for (const int k : a.loops)
      if (const int64_t c = form->coeff_of(loop(k).iter); c != 0) movers.push_back({k, c});
    if (movers.size() != 2) return;
    Mover along = movers[1], over = movers[0];
    const int64_t more = std::abs(along.coeff) - std::abs(over.coeff);
    if (more < 0 || (more == 0 && runs_better(a, over.loop, along.loop))) std::swap(along, over);
    if (along.coeff % over.coeff != 0) return;
    const auto lo = as_int(loop(over.loop).lo), hi = as_int(loop(over.loop).hi);
    const int64_t apart = std::abs(along.coeff / over.coeff);
    Overlap found{loop(along.loop).iter.name(), loop(over.loop).iter.name(), false};
    // Terms that an element has of the window; of one that is moved by many at a time few are.
    const bool few = lo && hi && *hi - *lo <= kShortWindow * apart;
    if (few && *hi - *lo <= apart) return;
    if (!few && apart > 1) return;
    found.is_long = !few;
    if (std::none_of(out_.begin(), out_.end(), [&](const Overlap& known) {
          return known.along == found.along && known.over == found.over;
        }))
      out_.push_back(std::move(found));
  }

  // Should vectors rather run along `loop` than along `other`?
  bool runs_better(const OutlineAccess& sum, int k, int other) const {
    const double length = loop(k).trips, its = loop(other).trips;
    // A window is a window, however it lies.
    if (std::min(length, its) > kShortWindow) {
      const int apart = far_reads(sum, k), its_apart = far_reads(sum, other);
      if (apart != its_apart) return apart < its_apart;
    }
    return length > its;
  }
  // Reads of the statement that step over elements along the loop.
  int far_reads(const OutlineAccess& sum, int k) const {
    int n = 0;
    for (const OutlineAccess& a : o_.accesses) {
      if (a.writes() || a.what.stmt != sum.what.stmt) continue;
      const std::optional<int64_t> step = o_.stride(a, k);
      n += !step || std::abs(*step) > 1;
    }
    return n;
  }

  const Outline& o_;
  std::vector<Overlap> out_;
};

}  // namespace

std::vector<Schedule> gathered_sums_of(const Schedule& s,
                                       const std::map<std::string, int64_t>& sizes) {
  const Outline o = outline_of(*s.proc, sizes);
  const std::vector<Overlap> overlaps = Overlaps(o).run();
  const bool any_long =
      std::any_of(overlaps.begin(), overlaps.end(), [](const Overlap& w) { return w.is_long; });
  std::vector<Schedule> out;
  for (const int64_t rows : any_long ? std::vector<int64_t>{16, 8, 32} : std::vector<int64_t>{0}) {
    Schedule made = s;
    for (const Overlap& w : overlaps) {
      ValueList args = {Value(w.along), Value(w.over)};
      if (w.is_long) args.push_back(Value(rows));
      (void)!apply(made, "gather_sums", std::move(args));
    }
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

bool scatters_sums(const Outline& o) { return !Overlaps(o).run().empty(); }

}  // namespace exotune
