#include "search/moves/factor_blocks.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr int kFactoredLoops = 3;  // rows, columns and a sum

// C[i, j] += .. A[i, k] .. B[k, j] .., the loops in any order; A is read by the rows' loop.
struct FactoredProduct {
  std::string i, j, k;
  int64_t rows = 0, columns = 0, terms = 0;
  std::string strips;  // what runs along j
  int64_t element = 8;
};

std::optional<FactoredProduct> factored_product(const Proc& p, const Path& nest) {
  const StmtPtr inner = stmt_at(p, down(nest, kFactoredLoops));
  const Reduce* sum = inner ? inner->as<Reduce>() : nullptr;
  if (!sum || sum->idx.size() < 2) return std::nullopt;
  FactoredProduct out;
  bool has_rows = false;
  for (int d = 0; d < kFactoredLoops; ++d) {
    const For& f = *stmt_at(p, down(nest, d))->as<For>();
    const std::optional<int64_t> extent = as_int(f.lo) == 0 ? as_int(f.hi) : std::nullopt;
    if (!extent) return std::nullopt;
    const bool last = mentions(sum->idx.back(), f.iter);
    const bool other = std::any_of(sum->idx.begin(), sum->idx.end() - 1,
                                   [&](const ExprPtr& e) { return mentions(e, f.iter); });
    if (last && other) return std::nullopt;
    std::string& name = last ? out.j : other ? out.i : out.k;
    if (!name.empty()) return std::nullopt;
    name = f.iter.name();
    (last ? out.columns : other ? out.rows : out.terms) = *extent;
    for (const Access& a : accesses_of(p, down(nest, kFactoredLoops), 1)) {
      if (a.kind != Access::Kind::kRead || a.idx.empty()) continue;
      if (other && std::any_of(a.idx.begin(), a.idx.end(),
                               [&](const ExprPtr& e) { return mentions(e, f.iter); }))
        has_rows = true;
      if (!last || !mentions(a.idx.back(), f.iter)) continue;
      if (!out.strips.empty() && out.strips != a.buffer.name()) return std::nullopt;
      out.strips = a.buffer.name();
    }
  }
  for (const OutlineAccess& a : outline_of(p).accesses)
    if (a.writes()) out.element = bytes_of(a.scalar);
  if (!has_rows || out.j.empty() || out.k.empty() || out.strips.empty()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Schedule> with_factors_in_blocks(const Schedule& s, const NearestCaches& caches,
                                               const VectorValues& unit, int64_t vectors) {
  const std::vector<Cursor> parts = parts_of(s.proc);
  if (parts.size() != 1 || !is_whole(s.proc, parts)) return std::nullopt;
  const Path nest = parts.front().path();
  if (band_depth(*s.proc, nest) != kFactoredLoops) return std::nullopt;
  const std::optional<FactoredProduct> c = factored_product(*s.proc, nest);
  if (!c || c->terms * c->columns * c->element <= caches.second) return std::nullopt;
  const int64_t width = vectors * unit.lanes();
  const int64_t deepest = caches.first / 4 * 3 / (width * c->element);
  if (deepest == 0) return std::nullopt;
  const int64_t depth = c->terms <= deepest ? c->terms : equal_parts(c->terms, deepest);
  const int64_t most = caches.second / 2 / (depth * c->element);
  if (most == 0 || c->rows < 2 * most) return std::nullopt;
  const std::optional<LoopOrder> ordered = with_innermost({s, {0, 1, 2}}, nest, {c->i, c->j, c->k});
  if (!ordered) return std::nullopt;
  Schedule out = ordered->schedule;
  const auto step = [&](const ScheduleStep& made) { return !apply(out, made); };
  const std::string blocks = c->i + "b";
  if (depth < c->terms && !step(block_step(c->k, depth, c->k + "o", c->i))) return std::nullopt;
  if (!step(pack_step(c->strips, c->i, width, unit)) ||
      !step(block_step(c->i, equal_parts(c->rows, most), blocks)))
    return std::nullopt;
  // Of the rows that are left over, too, if there are: the last loops first.
  std::vector<Cursor> rows = loops_named(out.proc, c->i);
  std::reverse(rows.begin(), rows.end());
  for (const Cursor& loop : rows)
    if (apply(out, "factors_ahead", {Value(loop)})) return std::nullopt;
  return out;
}

}  // namespace exotune
