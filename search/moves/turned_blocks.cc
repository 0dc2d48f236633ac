#include "search/moves/turned_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
#include "search/moves/transposition.h"
#include "search/outline/outline.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

// The loop that a result's elements lie along, and the one that those of what is copied do.
struct TurnedCopy {
  std::string to_loop, from_loop, buffer;
  int64_t to_extent = 0, from_extent = 0;
  int64_t element = 8;
};

std::optional<TurnedCopy> turned_copy(const Proc& p, const Path& nest,
                                      const std::map<std::string, int64_t>& sizes) {
  const StmtPtr inner = stmt_at(p, down(nest, band_depth(p, nest)));
  const Assign* copy = inner ? inner->as<Assign>() : nullptr;
  if (!copy || !copy->rhs->as<Read>()) return std::nullopt;
  const Outline o = outline_of(p, sizes);
  TurnedCopy out;
  for (const OutlineAccess& a : o.accesses) {
    if (a.what.idx.empty()) return std::nullopt;
    for (const int k : a.loops) {
      const OutlineLoop& l = o.loops[static_cast<size_t>(k)];
      if (o.stride(a, k) != 1) continue;
      if (!l.extent || as_int(l.lo) != 0) return std::nullopt;
      (a.writes() ? out.to_loop : out.from_loop) = l.iter.name();
      (a.writes() ? out.to_extent : out.from_extent) = *l.extent;
    }
    if (a.writes()) out.buffer = a.what.buffer.name();
    out.element = bytes_of(a.scalar);
  }
  if (out.to_loop.empty() || out.from_loop.empty() || out.to_loop == out.from_loop)
    return std::nullopt;
  return out;
}

// Whole vectors, as many as leave no rest where that is not much less.
int64_t side_of_block(int64_t extent, int64_t most, int64_t lanes) {
  const int64_t largest = most / lanes * lanes;
  for (int64_t side = largest; 2 * side >= largest && side > 0; side -= lanes)
    if (extent % side == 0) return side;
  return largest;
}

std::optional<Cursor> alloc_of(const ProcPtr& p, const std::string& name) {
  for (const Path& path : all_stmt_paths(*p)) {
    const Alloc* a = stmt_at(*p, path)->as<Alloc>();
    if (a && a->name.name() == name) return Cursor::stmt(p, path);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Schedule> turned_in_blocks(const Schedule& s,
                                         const std::map<std::string, int64_t>& sizes,
                                         const NearestCaches& caches, int64_t lanes) {
  const std::vector<Cursor> parts = parts_of(s.proc);
  if (caches.first == 0 || !is_whole(s.proc, parts)) return std::nullopt;
  const Path nest = parts.front().path();
  const std::optional<TurnedCopy> c = turned_copy(*s.proc, nest, sizes);
  if (!c) return std::nullopt;
  const auto most = static_cast<int64_t>(
      std::sqrt(static_cast<double>(caches.first) / 2 / static_cast<double>(c->element)));
  const int64_t rows = side_of_block(c->to_extent, most, lanes),
                columns = side_of_block(c->from_extent, most, lanes);
  if (std::min(rows, columns) == 0 || c->to_extent < 2 * rows || c->from_extent < 2 * columns)
    return std::nullopt;
  LoopOrder written{s, std::vector<int>(static_cast<size_t>(band_depth(*s.proc, nest)))};
  std::iota(written.order.begin(), written.order.end(), 0);
  const std::optional<LoopOrder> ordered =
      with_innermost(written, nest, {c->to_loop, c->from_loop});
  if (!ordered) return std::nullopt;
  Schedule out = ordered->schedule;
  const std::string block = c->buffer + "_block";
  if (apply(out, block_step(c->to_loop, rows, c->to_loop + "b")) ||
      apply(out, block_step(c->from_loop, columns, c->from_loop + "b", c->to_loop)))
    return std::nullopt;
  // The blocks of its own size come first.
  const std::vector<Cursor> loops = loops_named(out.proc, c->to_loop);
  if (loops.empty() ||
      apply(out, "auto_stage_mem", {Value(loops.front()), Value(c->buffer), Value(block)}))
    return std::nullopt;
  const std::optional<Cursor> alloc = alloc_of(out.proc, block);
  if (!alloc || apply(out, "set_memory", {Value(*alloc), Value(dram_stack())})) return std::nullopt;
  return out;
}

namespace {

// The dimension of the access that moves by one with the loop and with no other of the two; the
// others do not move with either; -1: it is otherwise.
int dimension_with(const OutlineAccess& a, Sym iter, Sym other) {
  int found = -1;
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    const std::optional<Affine> form = affine(a.what.idx[d]);
    if (!form) return -1;
    const int64_t step = form->coeff_of(iter);
    if (step == 0) continue;
    if (found >= 0 || step != 1 || form->coeff_of(other) != 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

// Is it read across the rows of the result: its elements lie side by side along the loop over
// rows, and the loop over columns steps from one of its own rows to the next?
bool is_across(const Outline& o, const OutlineAccess& a, int rows, int columns) {
  const Sym i = o.loops[static_cast<size_t>(rows)].iter,
            j = o.loops[static_cast<size_t>(columns)].iter;
  return !a.writes() && o.stride(a, rows) == 1 && dimension_with(a, i, j) >= 0 &&
         dimension_with(a, j, i) >= 0;
}

// A loop over rows of the result along which an operand lies side by side, and how many bytes its
// elements have; -1: there is none.
std::pair<int, int64_t> rows_read_across(const Outline& o, int columns) {
  const auto writes_rows = [&](int k) {
    return std::any_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
      return a.writes() && dimension_with(a, o.loops[static_cast<size_t>(k)].iter,
                                          o.loops[static_cast<size_t>(columns)].iter) >= 0;
    });
  };
  for (const OutlineAccess& a : o.accesses)
    for (const int k : a.loops)
      if (k != columns && is_across(o, a, k, columns) && writes_rows(k))
        return {k, bytes_of(a.scalar)};
  return {-1, 0};
}

// x[.. + j, .. + i]  ->  x[.. + t1, .. + t0], in the scope of the block.
std::string element_of(const OutlineAccess& a, Sym i, Sym j, const std::vector<ScopeEntry>& scope) {
  std::string out = a.what.buffer.name();
  for (size_t d = 0; d < a.what.idx.size(); ++d) {
    ExprPtr index = a.what.idx[d];
    std::string moved;
    for (const auto& [iter, axis] : {std::pair(i, "t0"), std::pair(j, "t1")})
      if (mentions(index, iter)) {
        index = normalize(index - read_var(iter, ScalarType::kIndex));
        moved = std::string(" + ") + axis;
      }
    out += (d ? ", " : "[") + str(index, scope) + moved;
  }
  return out + "]";
}

// In front of a block, two loops of literal extents: what it reads across, turned over.
void turn_operands(Schedule& s, const Cursor& block, const std::map<std::string, int64_t>& sizes) {
  const Outline o = outline_of(*s.proc, sizes);
  const Path top = forward(s.proc, block).path();
  const int rows = o.loop_at(top), columns = o.loop_at(child(top));
  if (rows < 0 || columns < 0) return;
  const OutlineLoop &i = o.loops[static_cast<size_t>(rows)],
                    &j = o.loops[static_cast<size_t>(columns)];
  if (!i.extent || !j.extent) return;
  const std::vector<ScopeEntry> scope = scope_at(*s.proc, top);
  const ValueList axes = {ValueList{Value("t0"), Value(std::to_string(*i.extent))},
                          ValueList{Value("t1"), Value(std::to_string(*j.extent))}};
  for (const OutlineAccess& a : o.accesses)
    // A read that an earlier view stands for is no longer there.
    if (is_prefix(top, a.what.stmt) && is_across(o, a, rows, columns))
      (void)!apply(s, "stage_view",
                   {Value(block), Value(a.what.buffer.name() + "_t"), Value(axes),
                    Value(element_of(a, i.iter, j.iter, scope))});
}

}  // namespace

std::optional<Schedule> operands_turned_in_blocks(const Schedule& s,
                                                  const std::map<std::string, int64_t>& sizes,
                                                  const NearestCaches& caches, int64_t lanes) {
  const std::vector<Cursor> parts = parts_of(s.proc);
  if (caches.first == 0 || !is_whole(s.proc, parts)) return std::nullopt;
  const Path nest = parts.front().path();
  if (turned_copy(*s.proc, nest, sizes)) return std::nullopt;
  const Outline o = outline_of(*s.proc, sizes);
  const int columns = contiguous_loop(o, nest);
  if (columns < 0) return std::nullopt;
  const auto [rows, element] = rows_read_across(o, columns);
  if (rows < 0) return std::nullopt;
  const OutlineLoop &i = o.loops[static_cast<size_t>(rows)],
                    &j = o.loops[static_cast<size_t>(columns)];
  const std::string row = i.iter.name(), column = j.iter.name();
  const auto most = static_cast<int64_t>(
      std::sqrt(static_cast<double>(caches.first) / 4 / static_cast<double>(element)));
  const int64_t side = most / lanes * lanes;
  if (side == 0 || !i.extent || !j.extent || *i.extent < 2 * side || *j.extent < 2 * side)
    return std::nullopt;
  LoopOrder written{s, std::vector<int>(static_cast<size_t>(band_depth(*s.proc, nest)))};
  std::iota(written.order.begin(), written.order.end(), 0);
  const std::optional<LoopOrder> ordered = with_innermost(written, nest, {row, column});
  if (!ordered) return std::nullopt;
  Schedule out = ordered->schedule;
  if (apply(out, block_step(row, side, row + "b")) ||
      apply(out, block_step(column, side, column + "b", row)))
    return std::nullopt;
  const size_t before = out.steps.size();
  // Whole blocks, and what is left of the rows, of the columns and of both; the last first.
  std::vector<Cursor> loops = loops_named(out.proc, row);
  std::reverse(loops.begin(), loops.end());
  for (const Cursor& block : loops) turn_operands(out, block, sizes);
  return out.steps.size() > before ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace exotune
