#include "search/moves/following_loop.h"

#include "core/ir/normal_form.h"
#include "search/moves/loop_order.h"

namespace exotune {

namespace {

bool follows(const ExprPtr& bound, Sym iter) {
  if (!mentions(bound, iter)) return false;
  const std::optional<Affine> a = affine(bound);
  return a && a->coeff_of(iter) == 1;
}

}  // namespace

std::optional<FollowingLoop> following_loop(const Proc& p, const Path& band, int depth) {
  const auto loop = [&](int level) -> const For& {
    return *stmt_at(p, down(band, level))->as<For>();
  };
  for (int inner = 1; inner < depth; ++inner)
    for (int outer = 0; outer < inner; ++outer) {
      const For &i = loop(outer), &j = loop(inner);
      if (follows(j.hi, i.iter) && !mentions(j.lo, i.iter))
        return FollowingLoop{outer, inner, true};
      if (follows(j.lo, i.iter) && !mentions(j.hi, i.iter))
        return FollowingLoop{outer, inner, false};
    }
  return std::nullopt;
}

ExprPtr common_bound(const For& f, Sym row, bool upper, int64_t block) {
  const ExprPtr at = substitute(upper ? f.hi : f.lo, row, int_const(upper ? 0 : block - 1));
  std::optional<Affine> a = affine(at);
  if (!a) return normalize(at);
  const int64_t over = ((a->constant % block) + block) % block;
  a->constant += upper ? -over : (block - over) % block;
  return to_expr(*a);
}

}  // namespace exotune
