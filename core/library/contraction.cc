#include "core/library/contraction.h"

#include <algorithm>
#include <array>

#include "core/library/blocking.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/prefetching.h"
#include "core/library/tiles.h"

namespace exotune {

namespace {

// Vectorizes a copy nest between a register tile and memory, and unrolls it.
ProcPtr vectorize_tile_copy(ProcPtr p, const Path& nest, const VectorUnit& unit) {
  Path last = innermost(p, nest);
  p = vectorize(p, at(p, last), unit, VectorTail::kCutAndPredicate);
  return p;
}

bool any_operand_along(const ExprPtr& e, Sym j) {
  const std::vector<const Read*> reads = data_reads(e);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Read* r) { return !r->idx.empty() && mentions(r->idx.back(), j); });
}

// What is staged is all between the first and the last element: of rows that lie apart, as those
// along a diagonal do, that may be a thousand registers for `written` vectors. Extents that are not
// literal count as one, in both.
void require_registers(const Alloc& tile, int64_t written, const MemoryPtr& memory) {
  int64_t vectors = 1;
  for (size_t d = 0; d + 1 < tile.type.shape.size(); ++d)
    vectors *= as_int(tile.type.shape[d]).value_or(1);
  if (memory->count == 0 || vectors <= memory->count || vectors <= written) return;
  throw SchedulingError("register_block: the tile spans " + std::to_string(vectors) +
                            " registers for " + std::to_string(written) + " that it writes, and " +
                            memory->name + " has " + std::to_string(memory->count),
                        {}, "rows that lie side by side, or one at a time");
}

// The nest at `first` is for i: for j: {out = c;} for k: out += a * b; `set` when it sets out.
ProcPtr register_block_one(ProcPtr p, const Path& first, bool set, bool apart,
                           const VectorUnit& unit) {
  // What sets the tile becomes loops of its own in front.
  if (set) p = fission(p, at(p, child(child(first))).after(), 2);
  const Path top = set ? sibling(first, 1) : first;
  // top: for i; for j; for k: out += a * b   ->   for k: for i: for j
  const Path j_path = child(top), k_path = child(j_path);
  const auto extent = [&](const Path& loop) {
    return literal_extent(at(p, loop).as<For>()).value_or(1);
  };
  const int64_t written = extent(top) * ((extent(j_path) + unit.lanes - 1) / unit.lanes);
  p = reorder_loops(p, at(p, j_path));
  p = reorder_loops(p, at(p, top));
  p = simplify(p, at(p, top));  // packed operands: (48*jo + j) / 48 -> jo
  const Reduce& reduce = at(p, child(k_path)).as<Reduce>();
  Sym out = reduce.name;
  const Sym j = loop_at(p, k_path).iter;
  if (!any_operand_along(reduce.rhs, j))
    throw SchedulingError("register_block: no operand is contiguous along `" + j.name() + "`");

  // The out tile: [i, j] -> [i, j / lanes, lanes] in registers around the k loop.
  const size_t before = block_at(*p, first).size();
  apart = apart && !set;
  p = stage_around(p, first, out, out.name() + "_reg", set ? 2 : 1, true, apart, Touch::kWrites);
  const bool loaded = block_at(*p, first).size() == before + 3;
  p = split_last_dim(p, first, unit.lanes);
  require_registers(at(p, first).as<Alloc>(), written, unit.memory);
  p = set_memory(p, at(p, first), unit.memory);
  // alloc, what fills the tile (a load, what sets it, rarely both), k loop, store nest
  const int fills = (loaded ? 1 : 0) + (set ? 1 : 0);
  const Path k_loop = sibling(first, 1 + fills), store = sibling(first, 2 + fills);
  // b's vectors of one k, in front of the i loop.
  const SharedTiles shared = stage_shared(p, child(k_loop), unit.lanes, unit.memory);
  const Path compute = shared.rows;
  p = products_apart(shared.proc, child(child(compute)));
  // Last first, so that earlier paths stay.
  p = vectorize_tile_copy(p, store, unit);
  p = run_to_whole_vectors(p, child(compute), unit.lanes);
  p = vectorize(p, at(p, child(compute)), unit, VectorTail::kCutAndPredicate);
  // One broadcast of a for all vectors of a row.
  for (int k = static_cast<int>(block_at(*p, child(compute)).size()) - 1; k >= 0; --k)
    if (Cursor loop = at(p, child(compute, k)); loop.is<For>()) p = hoist_from_loop(p, loop);
  for (auto load = shared.loads.rbegin(); load != shared.loads.rend(); ++load)
    p = vectorize_tile_copy(p, *load, unit);
  for (int fill = fills; fill > 0; --fill) p = vectorize_tile_copy(p, sibling(first, fill), unit);
  if (apart) p = prefetch_during(p, at(p, k_loop), at(p, store), out);
  return p;
}

// Whether the nest, which must be exactly the loops i, j, k, sets its result in front of k; nothing
// for another nest.
std::optional<bool> sets_its_tile(StmtPtr s, const std::array<std::string, 3>& loops) {
  bool set = false;
  for (size_t d = 0; d < loops.size(); ++d) {
    const For* f = s->as<For>();
    if (!f || f->iter.name() != loops[d]) return std::nullopt;
    const bool sets = d == 1 && f->body.size() == 2 && f->body[0]->as<Assign>();
    if (f->body.size() != (sets ? 2 : 1)) return std::nullopt;
    set = set || sets;
    s = f->body.back();
    if (d == 2 && !s->as<Reduce>()) return std::nullopt;
  }
  return set;
}

// A boundary that no size meets: for i in seq(0, M % 6 / 30).
bool never_runs(const ProcPtr& p, const Path& path) {
  const std::vector<Cursor> around = enclosing_loops(at(p, path));
  const bool literal = std::all_of(around.begin(), around.end(), [](const Cursor& c) {
    return literal_extent(c.as<For>()).value_or(0) > 0;
  });
  return !literal && prove(*p, path, bool_const(false));
}

}  // namespace

ProcPtr register_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                       const VectorUnit& unit, bool apart) {
  std::vector<Cursor> loops = require_loops(p, i);
  bool found = false;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path top = c->path();
    const std::optional<bool> set = sets_its_tile(stmt_at(*p, top), {i, j, k});
    if (!set) continue;
    found = true;
    if (never_runs(p, child(innermost(p, top)))) continue;  // stays as it is
    p = register_block_one(p, top, *set, apart, unit);
  }
  if (!found)
    throw SchedulingError("register_block: no loop over `" + i + "` is a nest of `" + i + "`, `" +
                              j + "` and `" + k + "` around one sum",
                          {}, "bring the loops into this order first, or name them in theirs");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> contraction_operators() {
  using namespace params;
  return {
      {"register_block",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions"), boolean("apart", false)},
       "for i: for j: for k: C[i, j] += A[i, k] * B[k, j]  ->  the micro-kernel, C in registers",
       [](const OperatorArgs& a) -> Value {
         return register_block(a.proc(), a.string(1), a.string(2), a.string(3),
                               vector_unit(a, 4, 5, 6), a.boolean(7));
       }},
  };
}

}  // namespace exotune
