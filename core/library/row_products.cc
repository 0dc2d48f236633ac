#include "core/library/row_products.h"

#include "core/ir/normal_form.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/level2.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/vector_loops.h"
#include "core/primitives/primitives.h"

namespace exotune {

namespace {

// The loop over `name` that is all there is in `loop`; null: there is none.
const For* only_inside(const For& loop, const std::string& name) {
  const For* inside = loop.body.size() == 1 ? loop.body.front()->as<For>() : nullptr;
  return inside && inside->iter.name() == name ? inside : nullptr;
}

// A sum along three loops, two of which are a tile.
struct RowTile {
  const For *rows, *columns, *sum;
  const Reduce* result;
  int64_t count;  // of results
};

std::optional<RowTile> row_tile(const Cursor& c, const std::string& inner, const std::string& sum) {
  const For& rows = c.as<For>();
  const For* columns = only_inside(rows, inner);
  const For* along = columns ? only_inside(*columns, sum) : nullptr;
  const Reduce* result =
      along && along->body.size() == 1 ? along->body.front()->as<Reduce>() : nullptr;
  const auto m = literal_extent(rows), n = columns ? literal_extent(*columns) : std::nullopt;
  if (!result || result->op != ReduceOp::kAdd || !m || !n) return std::nullopt;
  return RowTile{&rows, columns, along, result, *m * *n};
}

// Does what `loop` moves stand in front of what the other one moves?
bool comes_first(const Reduce& result, const For& loop, const For& other) {
  for (const ExprPtr& e : result.idx) {
    if (mentions(e, loop.iter)) return true;
    if (mentions(e, other.iter)) return false;
  }
  return true;
}

// What the loops of a tile are called, so that what becomes of it is not done to another.
struct TileLoops {
  std::string results, sum;
};

// for i: for j: for k: y[i, j] += e  ->  for ij: for k: t[ij] += e, and y += t
ProcPtr with_one_loop(ProcPtr p, const Path& top, const RowTile& tile, const TileLoops& named) {
  const bool turned = !comes_first(*tile.result, *tile.rows, *tile.columns);
  const Sym out = tile.result->name;
  if (turned) p = reorder_loops(p, at(p, top));
  const auto rectangle = touched(p, at(p, top), out, Touch::kWrites);
  if (!rectangle) throw SchedulingError("multiply_rows: `" + out.name() + "` is not affine");
  p = stage_mem(p, at(p, top), rectangle->text(out.name(), scope_at(*p, top)), out.name() + "_tile",
                /*accum=*/true);
  // alloc, zero, main, add
  const Path main = sibling(top, 2);
  const Cursor alloc = at(p, top);
  p = set_memory(p, alloc, dram_stack());
  if (alloc.as<Alloc>().type.shape.size() == 2) p = mult_dim(p, at(p, top), 0, 1);
  p = mult_loops(p, at(p, main), named.results);
  if (find_loop(p, child(main))->iter.name() != named.sum)
    p = rename_loop(p, at(p, child(main)), named.sum);
  return simplify(p, at(p, main));
}

}  // namespace

ProcPtr multiply_rows(ProcPtr p, const std::string& outer, const std::string& inner,
                      const std::string& sum, const VectorUnit& unit) {
  std::vector<Cursor> loops = require_loops(p, outer);
  std::vector<std::pair<TileLoops, int64_t>> tiles;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const std::optional<RowTile> tile = row_tile(at(p, c->path()), inner, sum);
    if (!tile) continue;
    const std::string number = tiles.empty() ? "" : std::to_string(tiles.size());
    const TileLoops named{outer + inner + number, sum + number};
    p = with_one_loop(p, c->path(), *tile, named);
    tiles.emplace_back(named, tile->count);
  }
  if (tiles.empty())
    throw SchedulingError("multiply_rows: no loop over `" + outer +
                          "` of known extent is around one over `" + inner + "` around one over `" +
                          sum + "` alone that adds up");
  for (const auto& [named, count] : tiles) {
    p = optimize_level_2(p, named.results, named.sum, unit, count, 1);
    if (count > 1) p = unroll_named(p, named.results + "o");
  }
  return simplify(p);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> row_products_operators() {
  using namespace params;
  return {
      {"multiply_rows",
       {proc(), string("outer"), string("inner"), string("sum"), integer("vw"), memory("mem_type"),
        procs("instructions")},
       "for i: for j: for k: y[i, j] += e  ->  for kv: for ij: acc[ij] += e; y += lanes of acc",
       [](const OperatorArgs& a) -> Value {
         return multiply_rows(a.proc(), a.string(1), a.string(2), a.string(3),
                              vector_unit(a, 4, 5, 6));
       }},
  };
}

}  // namespace exotune
