#include "search/moves/stencils.h"

#include <algorithm>

#include "core/ir/normal_form.h"

namespace exotune {

namespace {

// How far the second of two reads of one buffer lies behind the first, by dimension; nothing
// where that is not the same in every iteration.
std::optional<std::vector<int64_t>> steps_apart(const OutlineAccess& a, const OutlineAccess& b) {
  if (a.writes() || b.writes() || a.what.buffer != b.what.buffer || a.loops != b.loops)
    return std::nullopt;
  std::vector<int64_t> out;
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    const std::optional<int64_t> n = as_int(normalize(b.what.idx[d] - a.what.idx[d]));
    if (!n) return std::nullopt;
    out.push_back(*n);
  }
  return out;
}

// The loops around `a` that move along a dimension in which the other read is elsewhere.
void note_across(const Outline& o, const OutlineAccess& a, const std::vector<int64_t>& apart,
                 std::set<int>& across) {
  for (const int around : a.loops)
    for (size_t d = 0; d + 1 < apart.size(); ++d)
      if (apart[d] != 0 && mentions(a.what.idx[d], o.loops[static_cast<size_t>(around)].iter))
        across.insert(around);
}

}  // namespace

bool loads_reversed(const Proc& instr) {
  const For* f = instr.body.size() == 1 ? instr.body.front()->as<For>() : nullptr;
  const Assign* a = f && f->body.size() == 1 ? f->body.front()->as<Assign>() : nullptr;
  const Read* r = a ? a->rhs->as<Read>() : nullptr;
  const auto from = r && r->idx.size() == 1 ? affine(r->idx.front()) : std::nullopt;
  return from && from->coeff_of(f->iter) == -1;
}

Neighbours neighbours_along(const Outline& o, const Target& target, int loop) {
  Neighbours out;
  for (const OutlineAccess& a : o.accesses) {
    if (a.loops.empty() || a.loops.back() != loop) continue;
    for (const OutlineAccess& b : o.accesses) {
      const auto apart = steps_apart(a, b);
      if (!apart || apart->empty()) continue;
      const int64_t along = apart->back();
      if (std::any_of(apart->begin(), apart->end() - 1, [](int64_t n) { return n != 0; }))
        note_across(o, a, *apart, out.across);
      else
        out.in_row = out.in_row || (along > 0 && along < target.lanes_of(a.scalar));
    }
  }
  return out;
}

bool reads_neighbours(const Outline& o, const Target& target) {
  for (int k = 0; k < static_cast<int>(o.loops.size()); ++k) {
    const Neighbours n = neighbours_along(o, target, k);
    if (o.loops[static_cast<size_t>(k)].children.empty() && (n.in_row || !n.across.empty()))
      return true;
  }
  return false;
}

}  // namespace exotune
