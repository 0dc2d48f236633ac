#include "core/library/columns.h"

#include "core/library/blocking.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/replacement.h"
#include "core/library/staging.h"
#include "core/library/vector_loops.h"

namespace exotune {

namespace {

const For& loop_over(const ProcPtr& p, const Path& path, const std::string& name) {
  const For* f = find_loop(p, path);
  if (!f || f->iter.name() != name)
    throw SchedulingError("accumulate_columns: no loop over `" + name +
                          "` stands where it is needed");
  return *f;
}

// The buffer that the innermost statement adds to.
Sym buffer_of_sum(const ProcPtr& p, const Path& nest) {
  StmtPtr s = stmt_at(*p, nest);
  while (s->as<For>()) s = body_of(*s).back();
  const Reduce* sum = s->as<Reduce>();
  if (!sum) throw SchedulingError("accumulate_columns: the innermost statement is no sum");
  return sum->name;
}

// A nest `for columns: for rows: s` of literal extents.
ProcPtr accumulate_one(ProcPtr p, const Path& top, const std::string& rows, const VectorUnit& unit,
                       int64_t depth) {
  const std::string columns = find_loop(p, top)->iter.name();
  const Sym sum = buffer_of_sum(p, top);
  if (depth > 1) {
    p = divide_loop(p, at(p, child(top)), depth, {rows + "o", rows}, Tail::kPerfect);
  }
  p = reorder_loops(p, at(p, top));  // rows outermost
  const Staged staged = auto_stage_mem(p, at(p, top), sum.name(), sum.name() + "_reg");
  p = staged.proc;
  if (!staged.load.valid() || !staged.store.valid())
    throw SchedulingError("accumulate_columns: `" + sum.name() + "` is not both read and written");
  // alloc, load, rows, store
  p = divide_dim(p, at(p, top), static_cast<int>(at(p, top).as<Alloc>().type.rank()) - 1,
                 unit.lanes);
  p = set_memory(p, at(p, top), unit.memory);
  const Path load = sibling(top, 1), main = sibling(top, 2), store = sibling(top, 3);
  p = vectorize(p, at(p, innermost(p, store)), unit, VectorTail::kPerfect);
  p = divide_loop(p, at(p, child(main)), unit.lanes, {columns + "v", columns}, Tail::kPerfect);
  p = simplify(p, at(p, main));
  const Path lanes = child(child(main));
  if (std::optional<ProcPtr> whole = try_replace_any(p, at(p, lanes), unit.instrs))
    p = *whole;
  else if (depth > 1)
    throw SchedulingError("accumulate_columns: no instruction adds up " + std::to_string(depth) +
                          " rows of " + std::to_string(unit.lanes) + " columns");
  else
    p = vectorize_lanes(p, at(p, lanes), unit);
  // What is the same for all vectors of a row: one broadcast.
  if (Cursor vectors = at(p, child(main)); vectors.is<For>()) p = hoist_from_loop(p, vectors);
  return vectorize(p, at(p, innermost(p, load)), unit, VectorTail::kPerfect);
}

}  // namespace

ProcPtr accumulate_columns(ProcPtr p, const std::string& rows, const std::string& columns,
                           const VectorUnit& unit, int64_t vectors, int64_t depth) {
  std::vector<Cursor> outer = loops_named(p, rows);
  for (auto c = outer.rbegin(); c != outer.rend(); ++c)
    if (const Path path = child(c->path());
        find_loop(p, path) && find_loop(p, path)->iter.name() == columns)
      p = reorder_loops(p, *c);
  for (const Cursor& c : require_loops(p, columns)) {
    const auto extent = literal_extent(c.as<For>());
    const auto sums = literal_extent(loop_over(p, child(c.path()), rows));
    if (!extent || !sums || *extent % unit.lanes != 0 || *sums % depth != 0)
      throw SchedulingError("accumulate_columns: `" + columns + "` must have a multiple of " +
                            std::to_string(unit.lanes) + " iterations, `" + rows +
                            "` a multiple of " + std::to_string(depth));
  }
  p = block_loop(p, columns, {vectors * unit.lanes}, {columns + "o", columns}, "");
  std::vector<Cursor> blocks = require_loops(p, columns);
  for (auto c = blocks.rbegin(); c != blocks.rend(); ++c)
    p = accumulate_one(p, c->path(), rows, unit, depth);
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> columns_operators() {
  using namespace params;
  return {
      {"accumulate_columns",
       {proc(), string("rows"), string("columns"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 4), integer("depth", 1)},
       "for j: for k: y[j] += e  ->  for blocks of j: registers = y; for k by depth: registers += "
       "e; "
       "y = registers",
       [](const OperatorArgs& a) -> Value {
         return accumulate_columns(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                   a.small(6), a.small(7));
       }},
  };
}

}  // namespace exotune
