#include "search/moves/turned_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
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

}  // namespace exotune
