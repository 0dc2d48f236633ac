// Data formals: the windows of buffers that the block uses in their place.
#include <algorithm>
#include <functional>

#include "core/primitives/calls.h"
#include "core/primitives/matcher.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

bool Matcher::bind_buffers() {
  for (const Arg& a : callee_.args) {
    if (!is_data(a.type.scalar)) continue;
    const Buffer* buffer = nullptr;
    for (const auto& [sym, b] : buffers_)
      if (sym == a.name) buffer = &b;
    if (!buffer) return no("an argument is not used by the callee");
    if (!bind_buffer(a, *buffer)) return false;
  }
  return true;
}

// offset[d][k]: where dimension k of the formal begins in dimension d of the buffer; fixed[d]: the
// point of dimension d. Absent where the uses do not allow it.
bool Matcher::bind_buffer(const Arg& a, const Buffer& b) {
  const size_t rank = static_cast<size_t>(a.type.rank());
  auto entry = lookup(p_, first_, b.actual);
  const size_t dims = entry->type.shape.size();
  std::vector<std::vector<std::optional<Affine>>> offset(dims,
                                                         std::vector<std::optional<Affine>>(rank));
  std::vector<std::optional<Affine>> fixed(dims);
  for (size_t d = 0; d < dims; ++d) {
    for (size_t k = 0; k < rank; ++k) offset[d][k] = common_offset(b, d, k);
    fixed[d] = common_point(b, d);
  }
  std::vector<int> dim_of(rank, -1);
  if (!place(offset, fixed, rank, dims, dim_of))
    return no("the indices are no window of the buffer");
  std::vector<WindowAccess> access(dims);
  std::vector<ExprPtr> idx;
  bool whole = rank == dims && rank > 0;
  for (size_t d = 0; d < dims; ++d) {
    auto k = std::find(dim_of.begin(), dim_of.end(), static_cast<int>(d)) - dim_of.begin();
    if (static_cast<size_t>(k) == rank) {
      access[d] = {to_expr(*fixed[d]), nullptr};
      idx.push_back(access[d].lo);
      continue;
    }
    const Affine& lo = *offset[d][static_cast<size_t>(k)];
    ExprPtr length = with_solutions(a.type.shape[static_cast<size_t>(k)]);
    access[d].lo = to_expr(lo);
    access[d].hi = fold(access[d].lo + length);
    whole = whole && lo == Affine{} && affine_equal(access[d].hi, entry->type.shape[d]);
  }
  ScalarType t = entry->type.scalar;
  if (rank == 0)
    bound_[a.name] = read_elem(b.actual, idx, t);
  else if (!a.type.window && !whole)
    return no("an argument must be a dense tensor");
  else if (!a.type.window)
    bound_[a.name] = read_elem(b.actual, {}, t);
  else
    bound_[a.name] = make_expr(WindowExpr{b.actual, access}, t);
  return true;
}

std::optional<Affine> Matcher::common_offset(const Buffer& b, size_t d, size_t k) const {
  std::optional<Affine> common;
  for (const auto& [pattern, actual] : b.uses) {
    if (d >= actual.size() || k >= pattern.size()) return std::nullopt;
    const Extent &x = pattern[k], &y = actual[d];
    if ((x.length == nullptr) != (y.length == nullptr)) return std::nullopt;
    if (x.length && !affine_equal(with_solutions(x.length), y.length)) return std::nullopt;
    auto xa = affine(with_solutions(x.lo)), ya = affine(y.lo);
    if (!xa || !ya) return std::nullopt;
    Affine diff = *ya - *xa;
    if (common ? !(*common == diff) : !free_of_iters(diff)) return std::nullopt;
    common = diff;
  }
  return common;
}

std::optional<Affine> Matcher::common_point(const Buffer& b, size_t d) const {
  std::optional<Affine> common;
  for (const auto& [pattern, actual] : b.uses) {
    if (d >= actual.size() || actual[d].length) return std::nullopt;
    auto at = affine(actual[d].lo);
    if (!at || (common ? !(*common == *at) : !free_of_iters(*at))) return std::nullopt;
    common = at;
  }
  return common;
}

// Gives the formal's last dimensions the last fitting dimensions of the buffer, in order.
bool Matcher::place(const std::vector<std::vector<std::optional<Affine>>>& offset,
                    const std::vector<std::optional<Affine>>& fixed, size_t k, size_t d,
                    std::vector<int>& dim_of) {
  if (d == 0) return k == 0;
  if (k > 0 && offset[d - 1][k - 1]) {
    dim_of[k - 1] = static_cast<int>(d - 1);
    if (place(offset, fixed, k - 1, d - 1, dim_of)) return true;
    dim_of[k - 1] = -1;
  }
  return fixed[d - 1] && place(offset, fixed, k, d - 1, dim_of);
}

}  // namespace exotune::internal
