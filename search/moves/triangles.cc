#include "search/moves/triangles.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/moves/loop_order.h"

namespace exotune {

namespace {

const For& loop(const Proc& p, const Path& path) { return *stmt_at(p, path)->as<For>(); }

// The loop `inner` follows `outer` with one of its bounds, one step for one.
struct Pair {
  int outer = 0, inner = 0;  // levels of the band
  bool upper = true;         // the upper bound follows
};

bool follows(const ExprPtr& bound, Sym iter) {
  if (!mentions(bound, iter)) return false;
  const std::optional<Affine> a = affine(bound);
  return a && a->coeff_of(iter) == 1;
}

std::optional<Pair> first_pair(const Proc& p, const Path& band, int depth) {
  for (int inner = 1; inner < depth; ++inner)
    for (int outer = 0; outer < inner; ++outer) {
      const For &i = loop(p, down(band, outer)), &j = loop(p, down(band, inner));
      if (follows(j.hi, i.iter) && !mentions(j.lo, i.iter)) return Pair{outer, inner, true};
      if (follows(j.lo, i.iter) && !mentions(j.hi, i.iter)) return Pair{outer, inner, false};
    }
  return std::nullopt;
}

// Where all rows of a block have begun, or not yet ended: a whole number of blocks, so that
// vectors divide the rectangle.
ExprPtr common_bound(const For& f, Sym row, bool upper, int64_t block) {
  const ExprPtr at = substitute(upper ? f.hi : f.lo, row, int_const(upper ? 0 : block - 1));
  std::optional<Affine> a = affine(at);
  if (!a) return normalize(at);
  const int64_t over = ((a->constant % block) + block) % block;
  a->constant += upper ? -over : (block - over) % block;
  return to_expr(*a);
}

}  // namespace

bool triangle_is_summed(const Proc& p, const Path& band) {
  const std::optional<Pair> pair = first_pair(p, band, band_depth(p, band));
  if (!pair) return false;
  const Sym follower = loop(p, down(band, pair->inner)).iter;
  const Outline o = outline_of(p);
  return std::none_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    return a.writes() && is_prefix(band, a.what.stmt) &&
           std::any_of(a.what.idx.begin(), a.what.idx.end(),
                       [&](const ExprPtr& index) { return mentions(index, follower); });
  });
}

std::optional<Schedule> rectangle_and_corner(const Schedule& s, const Path& band, int64_t block,
                                             bool squares) {
  const int depth = band_depth(*s.proc, band);
  const std::optional<Pair> pair = first_pair(*s.proc, band, depth);
  if (!pair) return std::nullopt;
  Schedule out = s;
  const Path top = down(band, pair->outer);
  const For& blocked = loop(*s.proc, top);
  const auto lo = as_int(blocked.lo), hi = as_int(blocked.hi);
  if (lo && hi && *hi - *lo < 2 * block) return std::nullopt;  // all corner
  const std::string name = blocked.iter.name();
  if (apply(out, "divide_loop",
            {Value(Cursor::stmt(out.proc, top)), Value(block), Value::strings({name + "b", name}),
             Value("cut")}))
    return std::nullopt;
  // The band below the blocks: one level deeper than before.
  const Path rows = down(top, 1), cut = down(rows, pair->inner - pair->outer);
  const StmtPtr inner = stmt_at(*out.proc, cut);
  if (!inner || !inner->as<For>()) return std::nullopt;
  const Sym row = loop(*out.proc, rows).iter;
  const ExprPtr at = common_bound(*inner->as<For>(), row, pair->upper, block);
  const std::string point = str(normalize(at), scope_at(*out.proc, cut));
  if (apply(out, "cut_loop", {Value(Cursor::stmt(out.proc, cut)), Value(point)}))
    return std::nullopt;
  const std::string column = loop(*out.proc, cut).iter.name();
  const int lifts = pair->inner - pair->outer;
  if (apply(out, "fission", {Value(Cursor::stmt(out.proc, cut)), Value(lifts)}))
    return std::nullopt;
  if (squares && apply(out, "square_corner", {Value(name), Value(column)})) return std::nullopt;
  return out;
}

}  // namespace exotune
