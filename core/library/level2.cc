#include "core/library/level2.h"

#include <algorithm>
#include <set>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/reduction.h"
#include "core/library/skinny.h"
#include "core/library/staging.h"
#include "core/library/statements.h"
#include "core/library/vector_loops.h"

namespace exotune {
// Matrix-vector loops: several rows at once, so that each vector that is loaded serves all of them.
// By kind: sums along the rows (an accumulator a row), sums along the columns (the row of results
// in registers), triangles (the columns that a block of rows has in common, and a corner).

namespace {

// Is a guard somewhere between the loops at `path` and their statement?
bool is_guarded(const ProcPtr& p, const Path& path) {
  StmtPtr s = stmt_at(*p, path);
  for (; body_of(*s).size() == 1; s = body_of(*s)[0])
    if (s->as<If>()) return true;
  return s->as<If>() != nullptr;
}

// for jv: for jl: [if:] for i: s  ->  for jv: for i: for jl: [if:] s
ProcPtr rows_outside_lanes(ProcPtr p, const Path& segment) {
  const Path lanes = child(segment);
  if (is_guarded(p, segment)) p = lift_scope(p, at(p, child(child(lanes))));
  return reorder_loops(p, at(p, lanes));
}

// `for j: for i: r[i] += e`: an accumulator per row takes whole vectors and the guarded rest.
ProcPtr optimize_row_sums(ProcPtr p, const Path& top, const VectorUnit& unit) {
  const For& loop = *find_loop(p, top);
  const std::vector<std::string> names = {loop.iter.name() + "v", loop.iter.name() + "l"};
  const auto extent = literal_extent(loop);
  const ExprPtr trips = loop.hi - loop.lo;
  const bool whole = extent && *extent % unit.lanes == 0;
  const std::string acc = accumulator_of(p, top);
  p = divide_loop(p, at(p, top), unit.lanes, names, whole ? Tail::kPerfect : Tail::kGuard);
  p = rows_outside_lanes(p, top);
  p = parallelize_reduction(p, at(p, top), acc, unit.memory);
  // alloc, zero, main, [rest,] add: last first
  const Path main = sibling(top, 2);
  int parts = 1;
  if (!whole && (!extent || *extent > unit.lanes)) {
    p = cut_loop(p, at(p, main), bin_op(BinOpKind::kDiv, trips, int_const(unit.lanes)));
    p = simplify(p, at(p, main));
    ++parts;
  }
  p = add_up_lanes(p, sibling(main, parts), unit);
  for (int k = parts - 1; k >= -1; --k)
    p = vectorize_lanes(p, at(p, innermost(p, sibling(main, k))), unit);
  return p;
}

// `for j: for i: r[j] += e`, fewer columns than lanes: r in one register while the rows go by.
ProcPtr optimize_shared_rest(ProcPtr p, const Path& top, const VectorUnit& unit) {
  const std::string row = find_loop(p, child(top))->iter.name(),
                    column = find_loop(p, top)->iter.name();
  p = add_loop(p, at(p, top), row + "r", int_const(1), /*guard=*/false);
  return register_block(p, row + "r", column, row, unit);
}

// `for i: for j: s` with i of literal extent: i goes inside the vector loop along j.
// Rows of literal number go inside the vector loop; then each vector is a unit of work for all
// rows.
ProcPtr optimize_rows(ProcPtr p, const Path& top, const VectorUnit& unit) {
  const Sym row = find_loop(p, top)->iter;
  p = reorder_loops(p, at(p, top));  // for j: for i: s
  const Sym column = find_loop(p, top)->iter;
  const std::vector<std::string> names = {column.name() + "v", column.name() + "l"};
  if (is_reduction(p, top, column))
    return whole_and_rest(p, top, unit.lanes,
                          [&](const ProcPtr& q) { return optimize_row_sums(q, top, unit); });
  const bool shared = is_reduction(p, top, row);

  // Whole vectors, then the rest.
  auto extent = literal_extent(*find_loop(p, top));
  if (extent && *extent < unit.lanes) {
    if (shared) return optimize_shared_rest(p, top, unit);
    p = divide_loop(p, at(p, top), unit.lanes, names, Tail::kGuard);
    p = rows_outside_lanes(p, top);
    p = vectorize_lanes(p, at(p, innermost(p, top)), unit);
    return hoist_from_loop(p, at(p, child(top)));
  }
  p = divide_loop(p, at(p, top), unit.lanes, names,
                  shared && !extent ? Tail::kCutAndGuard : Tail::kCut);
  if (const Path rest = boundary_after(p, top, names[1]); !rest.empty()) {
    // Where no instruction does what is guarded, it stays as it is.
    attempted(p, [&](ProcPtr q) {
      if (shared) return optimize_shared_rest(q, rest, unit);
      q = divide_loop(q, at(q, rest), unit.lanes, names, Tail::kGuard);
      q = rows_outside_lanes(q, rest);
      q = vectorize_lanes(q, at(q, innermost(q, rest)), unit);
      return hoist_from_loop(q, at(q, child(rest)));
    });
  }
  p = rows_outside_lanes(p, top);
  const Path rows = child(top), lanes = child(rows);
  if (!shared) {
    p = vectorize_lanes(p, at(p, lanes), unit);
    return hoist_from_loop(p, at(p, rows));
  }
  // What all rows add into stays in one register: load, rows, store.
  StmtPtr inner = stmt_at(*p, lanes);
  while (body_of(*inner).size() == 1) inner = body_of(*inner)[0];
  const Sym out = inner->as<Reduce>()->name;
  auto rectangle = touched(p, at(p, rows), out, Touch::kWrites);
  if (!rectangle) throw SchedulingError("optimize_level_2: `" + out.name() + "` is not affine");
  p = stage_mem(p, at(p, rows), rectangle->text(out.name(), scope_at(*p, rows)), out.name() + "_v");
  p = set_memory(p, at(p, rows), unit.memory);
  p = vectorize_lanes(p, at(p, sibling(rows, 3)), unit);
  p = vectorize_lanes(p, at(p, child(sibling(rows, 2))), unit);
  return vectorize_lanes(p, at(p, sibling(rows, 1)), unit);
}

// Do the elements that the statement at `path` touches lie side by side, row by row?
bool is_contiguous(const ProcPtr& p, const Path& path) {
  bool all = true;
  const auto check = [&](Sym name, size_t rank) {
    if (rank == 0) return;
    const ExprPtr stride =
        make_expr(StrideExpr{name, static_cast<int>(rank) - 1}, ScalarType::kStride);
    all = all && prove_equal(*p, path, stride, int_const(1));
  };
  const StmtPtr s = stmt_at(*p, path);
  if (const Assign* a = s->as<Assign>()) check(a->name, a->idx.size());
  if (const Reduce* r = s->as<Reduce>()) check(r->name, r->idx.size());
  for_each_expr({s}, [&](const ExprPtr& e) {
    for (const Read* r : data_reads(e)) check(r->name, r->idx.size());
  });
  return all;
}

// What each row of a block has of its own, y[i] = beta y[i] + alpha sum[i], in vectors of rows: as
// the sums come out of instructions that add up several rows. Elsewhere an element that was just
// written alone would be waited for by a vector.
ProcPtr vectorize_own(ProcPtr p, const Path& rows, const VectorUnit& unit) {
  const For& loop = *find_loop(p, rows);
  const int64_t count = literal_extent(loop).value_or(0);
  const StmtPtr s = loop.body.front();
  if (loop.body.size() != 1 || (!s->as<Assign>() && !s->as<Reduce>()) || count < unit.lanes ||
      count % unit.lanes != 0 || !adds_up_to_vectors(unit, count) || !is_contiguous(p, child(rows)))
    return p;
  const std::string name = loop.iter.name();
  try {
    ProcPtr out = p;
    if (count == unit.lanes) return vectorize_lanes(out, at(out, rows), unit);
    out = divide_loop(out, at(out, rows), unit.lanes, {name, name + "l"}, Tail::kPerfect);
    return vectorize_lanes(out, at(out, child(rows)), unit);
  } catch (const SchedulingError&) {
    return p;  // functions, for which the unit has no instruction
  }
}

// The value of `bound`, affine in `row`, at that end of 0 <= row < count where it is largest.
// Bounds that follow the row are affine, so they are largest at one end of the block.
std::optional<ExprPtr> greatest(const ExprPtr& bound, Sym row, int64_t count) {
  const std::optional<Affine> a = affine(bound);
  if (!a) return std::nullopt;
  const bool grows = a->coeff_of(row) > 0;
  return normalize(substitute(bound, row, int_const(grows ? count - 1 : 0)));
}
std::optional<ExprPtr> least(const ExprPtr& bound, Sym row, int64_t count) {
  const std::optional<Affine> a = affine(bound);
  if (!a) return std::nullopt;
  const bool grows = a->coeff_of(row) > 0;
  return normalize(substitute(bound, row, int_const(grows ? 0 : count - 1)));
}

// In a block of rows of a triangle, each loop over the columns is cut into the part that all rows
// have in common and the corner; the statements of the common part are separated.
// Corners are at most a block wide, and stay scalar or masked: they are a linear part of the work.
ProcPtr cut_corners(ProcPtr p, const Path& rows, const std::string& inner, int64_t count) {
  const Sym row = find_loop(p, rows)->iter;
  for (int k = static_cast<int>(body_of(*stmt_at(*p, rows)).size()) - 1; k >= 0; --k) {
    const Path path = child(rows, k);
    const For* f = find_loop(p, path);
    if (!f || f->iter.name() != inner) continue;
    Path common = path;
    if (mentions(f->hi, row) && !mentions(f->lo, row)) {
      if (auto cut = least(f->hi, row, count)) p = cut_loop(p, at(p, path), *cut);
    } else if (mentions(f->lo, row) && !mentions(f->hi, row)) {
      if (auto cut = greatest(f->lo, row, count)) p = cut_loop(p, at(p, path), *cut);
      common = sibling(path, 1);
    }
    p = fission_as_much_as_possible(p, at(p, common));
  }
  return p;
}

bool is_row_free(const For& loop, Sym row) {
  return !mentions(loop.lo, row) && !mentions(loop.hi, row);
}

// Is the loop a corner that cut_corners left: fewer columns than a block has rows?
bool is_corner(const ProcPtr& p, const Path& path, int64_t rows) {
  const For& f = *find_loop(p, path);
  return static_cast<bool>(prove(*p, path, bin_op(BinOpKind::kLt, f.hi - f.lo, int_const(rows))));
}

// Each statement in a loop of its own along the columns, where that is allowed; corners stay.
ProcPtr separate_columns(ProcPtr p, const std::string& inner, int64_t rows) {
  std::vector<Cursor> columns = require_loops(p, inner);
  for (auto c = columns.rbegin(); c != columns.rend(); ++c)
    if (!is_corner(p, c->path(), rows)) p = fission_as_much_as_possible(p, at(p, c->path()));
  return p;
}

bool same_range(const For& a, const For& b) {
  return str(normalize(a.lo)) == str(normalize(b.lo)) &&
         str(normalize(a.hi)) == str(normalize(b.hi));
}

// The loops at places `to` and `from` of the block become one: the later one comes up behind the
// earlier one, or the earlier one down in front of it (a later loop stays behind the registers that
// it sums into). The procedure as it was where a statement between them, or a loop, lets neither.
ProcPtr fused_with(const ProcPtr& before, const Path& block, int to, int from) {
  const auto exchanged = [&](const ProcPtr& p, int k) {
    return reorder_stmts(p, Cursor::block(p, sibling(block, k), 2));
  };
  const auto fused_at = [&](const ProcPtr& p, int k) {
    return fuse(p, at(p, sibling(block, k)), at(p, sibling(block, k + 1)));
  };
  ProcPtr p = before;
  const bool up = attempted(p, [&](ProcPtr q) {
    for (int k = from; k > to + 1; --k) q = exchanged(q, k - 1);
    return fused_at(q, to);
  });
  if (!up)
    attempted(p, [&](ProcPtr q) {
      for (int k = to; k + 1 < from; ++k) q = exchanged(q, k);
      return fused_at(q, from - 1);
    });
  return p;
}

// In the block that begins at `block`, loops of this name over the same range become one.
ProcPtr fuse_vector_loops(ProcPtr p, const Path& block, const std::string& name) {
  const auto loop = [&](int k) {
    const For* f = block_at(*p, block)[static_cast<size_t>(k)]->as<For>();
    return f && f->iter.name() == name ? f : nullptr;
  };
  for (int to = 0; to < static_cast<int>(block_at(*p, block).size()); ++to)
    for (int from = static_cast<int>(block_at(*p, block).size()) - 1; from > to; --from)
      if (loop(to) && loop(from) && same_range(*loop(to), *loop(from)))
        p = fused_with(p, block, to, from);
  return p;
}

// A division in each vector would take longer than all else that a row does with it.
ProcPtr take_reciprocals_in(ProcPtr p, const std::string& inner) {
  std::vector<Cursor> loops = loops_named(p, inner);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) p = take_reciprocals(p, at(p, c->path()));
  return p;
}

}  // namespace

// Blocks of rows, columns in vectors, then whatever the boundary leaves, each with the same
// functions.
ProcPtr optimize_level_2(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t rows, int64_t interleave, bool fused) {
  if (rows <= 1) return optimize_level_1(separate_columns(p, inner, rows), inner, unit, interleave);
  p = take_reciprocals_in(p, inner);
  const std::vector<std::string> names = {outer + "o", outer + "i"};
  std::vector<Cursor> loops = require_loops(p, outer);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path top = c->path();
    bool has_inner = false;
    for_each_stmt({stmt_at(*p, top)}, [&](const StmtPtr& s) {
      if (const For* f = s->as<For>()) has_inner = has_inner || f->iter.name() == inner;
    });
    if (!has_inner) continue;
    p = divide_loop(p, at(p, top), rows, names, Tail::kCut);
    Path block = child(top);
    p = cut_corners(p, block, inner, rows);
    p = separate_rows(p, block, rows);
    const int count = static_cast<int>(block_at(*p, block).size());
    for (int k = count - 1; k >= block.back().index; --k) {
      const Path path = sibling(block, k - block.back().index);
      const For* f = find_loop(p, path);
      const For* inside = f && f->body.size() == 1 ? f->body[0]->as<For>() : nullptr;
      if (inside && inside->iter.name() == inner && is_row_free(*inside, f->iter))
        p = optimize_rows(p, path, unit);
      else if (f && f->iter.name() == names[1])
        p = vectorize_own(p, path, unit);
    }
    if (fused) p = fuse_vector_loops(p, child(top), inner + "v");
  }
  // The boundary's rows one at a time, and loops along the columns elsewhere; corners stay scalar.
  if (!loops_named(p, inner).empty()) p = separate_columns(p, inner, rows);
  std::vector<Cursor> others = loops_named(p, inner);
  for (auto c = others.rbegin(); c != others.rend(); ++c)
    if (!is_corner(p, c->path(), rows))
      p = optimize_level_1_loop(p, at(p, c->path()), unit, interleave);
  p = unroll_named(p, names[1] + "r");
  p = unroll_named(p, names[1]);
  p = unroll_named(p, inner + "u");
  return unroll_registers(p, unit.memory);
}

ProcPtr optimize_level_2_general(ProcPtr p, const std::string& outer, const VectorUnit& unit,
                                 int64_t r_fac, int64_t c_fac) {
  std::set<std::string> inner;
  for (const Cursor& loop : require_loops(p, outer))
    for_each_stmt(loop.as<For>().body, [&](const StmtPtr& s) {
      if (const For* f = s->as<For>()) inner.insert(f->iter.name());
    });
  if (inner.size() != 1)
    throw SchedulingError(
        "optimize_level_2_general: " +
            std::string(inner.empty() ? "no loop stands" : "loops of several names stand") +
            " inside `" + outer + "`",
        {}, "optimize_level_2 takes the inner loop's name");
  return optimize_level_2(p, outer, *inner.begin(), unit, r_fac, c_fac);
}

namespace {

// Scalars that the iterations of the loop at `rows` compute for themselves go where they are used.
ProcPtr inline_scalars(ProcPtr p, const Path& rows) {
  for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, rows)).size()); ++k) {
    const Assign* a = stmt_at(*p, child(rows, k))->as<Assign>();
    if (!a || !a->idx.empty()) continue;
    p = inline_assign(p, at(p, child(rows, k)));
    --k;
  }
  for (int k = static_cast<int>(body_of(*stmt_at(*p, rows)).size()) - 1; k >= 0; --k)
    if (stmt_at(*p, child(rows, k))->as<Alloc>()) p = delete_buffer(p, at(p, child(rows, k)));
  return p;
}

// The loop over `inner` that is all there is in the loop at `path`.
const For* only_loop(const ProcPtr& p, const Path& path, const std::string& inner) {
  const Block& body = body_of(*stmt_at(*p, path));
  const For* f = body.size() == 1 ? body[0]->as<For>() : nullptr;
  return f && f->iter.name() == inner ? f : nullptr;
}

}  // namespace

ProcPtr optimize_columns(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t vectors) {
  std::vector<Cursor> rows = require_loops(p, outer);
  for (auto c = rows.rbegin(); c != rows.rend(); ++c) {
    p = inline_scalars(p, c->path());
    // What moves with the rows would want registers for all of them.
    if (only_loop(p, c->path(), inner) && is_reduction(p, c->path(), find_loop(p, c->path())->iter))
      p = reorder_loops(p, at(p, c->path()));
  }
  p = block_loop(p, inner, {vectors * unit.lanes}, {inner + "o", inner}, "");
  // A block of columns is a register tile of one row. What is left of an extent that is not known
  // is a case for each number of registers: all of them go down the rows at once, since a pass for
  // each would read a matrix larger than the cache again.
  const std::string row = outer + "r";
  bool rest = false, tile = false;
  std::vector<Cursor> blocks = loops_named(p, inner);
  for (auto c = blocks.rbegin(); c != blocks.rend(); ++c) {
    if (!only_loop(p, c->path(), outer)) continue;
    const bool whole = literal_extent(*find_loop(p, c->path())).has_value();
    p = whole ? add_loop(p, at(p, c->path()), row, int_const(1), /*guard=*/false)
              : reorder_loops(p, at(p, c->path()));
    (whole ? tile : rest) = true;
  }
  if (!tile && !rest)
    throw SchedulingError("optimize_columns: no loop over `" + outer + "` is around a loop over `" +
                              inner + "` alone",
                          {}, "fission what else stands in it into loops of its own first");
  if (tile) p = register_block(p, row, inner, outer, unit);
  if (rest) p = opt_skinny(p, outer, inner, unit, vectors);
  // What else runs along the columns, such as scaling by beta.
  if (!loops_named(p, inner).empty()) p = optimize_level_1(p, inner, unit, vectors);
  return unroll_registers(unroll_named(p, row), unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> level2_operators() {
  using namespace params;
  return {
      {"optimize_level_2",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("rows", 4), integer("interleave", 1),
        boolean("fused", false)},
       "for i: for j: s  ->  vectors along j, `rows` iterations of i at a time",
       [](const OperatorArgs& a) -> Value {
         return optimize_level_2(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                 a.small(6), a.small(7), a.boolean(8));
       }},
      {"optimize_level_2_general",
       {proc(), string("outer"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("r_fac", 4), integer("c_fac", 1)},
       "optimize_level_2 along the loops inside `outer`, whatever they are called",
       [](const OperatorArgs& a) -> Value {
         return optimize_level_2_general(a.proc(), a.string(1), vector_unit(a, 2, 3, 4), a.small(5),
                                         a.small(6));
       }},
      {"optimize_columns",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 4)},
       "for i: for j: y[j] += e  ->  for blocks of j: registers = y; for i: registers += e; y = "
       "registers",
       [](const OperatorArgs& a) -> Value {
         return optimize_columns(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                 a.small(6));
       }},
  };
}

}  // namespace exotune
