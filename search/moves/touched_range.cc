#include "search/moves/touched_range.h"

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

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

std::optional<std::string> window_text(const Outline& o, const OutlineAccess& a,
                                       const std::vector<ScopeEntry>& scope) {
  std::string out = str(read_elem(a.what.buffer, {}, a.scalar), scope) + "[";
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    const std::optional<TouchedRange> r = range_of(o, a, a.what.idx[d]);
    if (!r) return std::nullopt;
    out += (d ? ", " : "") + str(r->lo, scope) + ":" + str(r->hi, scope);
  }
  return out + "]";
}

}  // namespace exotune
