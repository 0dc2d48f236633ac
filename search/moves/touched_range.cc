#include "search/moves/touched_range.h"

#include "core/ir/normal_form.h"

namespace exotune {

std::optional<TouchedRange> range_of(const Outline& o, const OutlineAccess& a,
                                     const ExprPtr& index) {
  TouchedRange out{index, index};
  for (const int l : a.loops) {
    const OutlineLoop& loop = o.loops[static_cast<size_t>(l)];
    if (!mentions(index, loop.iter)) continue;
    const std::optional<Affine> form = affine(index);
    if (!loop.bounded_by.empty() || !form || form->coeff_of(loop.iter) <= 0) return std::nullopt;
    out.lo = substitute(out.lo, loop.iter, loop.lo);
    out.hi = substitute(out.hi, loop.iter, loop.hi - int_const(1));
  }
  out.lo = normalize(out.lo);
  out.hi = normalize(out.hi + int_const(1));
  return out;
}

}  // namespace exotune
