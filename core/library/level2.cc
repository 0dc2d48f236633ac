#include "core/library/level2.h"

#include <algorithm>

#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/staging.h"
#include "core/library/vector_loops.h"

namespace exotune {

using namespace vector_loops;

namespace {

// Is a guard somewhere between the loops at `path` and their statement?
bool is_guarded(const ProcPtr& p, const Path& path) {
  StmtPtr s = stmt_at(*p, path);
  for (; body_of(*s).size() == 1; s = body_of(*s)[0])
    if (s->as<If>()) return true;
  return s->as<If>() != nullptr;
}

// `for i: for j: s` with i of literal extent: i goes inside the vector loop along j.
ProcPtr optimize_rows(ProcPtr p, const Path& top, const VectorUnit& unit) {
  const Sym row = loop_at(p, top)->iter;
  p = reorder_loops(p, at(p, top));  // for j: for i: s
  const Sym column = loop_at(p, top)->iter;
  const std::vector<std::string> names = {column.name() + "v", column.name() + "l"};
  const bool reduction = is_reduction(p, top, column);

  // Whole vectors, then the guarded rest.
  std::vector<Path> segments = {top};
  auto extent = literal_extent(*loop_at(p, top));
  if (extent && *extent < unit.lanes) {
    p = divide_loop(p, at(p, top), unit.lanes, names, Tail::kGuard);
  } else {
    p = divide_loop(p, at(p, top), unit.lanes, names,
                    reduction && !extent ? Tail::kCutAndGuard : Tail::kCut);
    const Path last = boundary_after(p, top, names[1]);
    if (!last.empty()) {
      p = divide_loop(p, at(p, last), unit.lanes, names, Tail::kGuard);
      segments.push_back(last);
    }
  }
  for (auto s = segments.rbegin(); s != segments.rend(); ++s) {
    const Path& segment = *s;
    const Path rows = child(segment), lane = child(rows);
    // for jv: for jl: [if:] for i: s  ->  for jv: for i: for jl: [if:] s
    const bool guarded = is_guarded(p, segment);
    if (guarded) p = lift_scope(p, at(p, child(child(rows))));
    p = reorder_loops(p, at(p, rows));
    if (reduction) {
      p = finish_sums(p, segment, unit);
      continue;
    }
    StmtPtr inner = stmt_at(*p, lane);
    while (body_of(*inner).size() == 1) inner = body_of(*inner)[0];
    const Reduce* r = inner->as<Reduce>();
    const bool shared = r && std::none_of(r->idx.begin(), r->idx.end(),
                                          [&](const ExprPtr& e) { return mentions(e, row); });
    if (shared && !guarded) {
      // What all rows add into stays in one register: load, rows, store.
      auto rectangle = touched(p, at(p, rows), r->name);
      if (!rectangle)
        throw SchedulingError("optimize_level_2: `" + r->name.name() + "` is not affine");
      p = stage_mem(p, at(p, rows), rectangle->text(r->name.name(), scope_at(*p, rows)),
                    r->name.name() + "_v");
      p = set_memory(p, at(p, rows), unit.memory);
      p = vectorize_lanes(p, at(p, sibling(rows, 3)), unit);
      p = vectorize_lanes(p, at(p, child(sibling(rows, 2))), unit);
      p = vectorize_lanes(p, at(p, sibling(rows, 1)), unit);
    } else {
      p = vectorize_lanes(p, at(p, lane), unit);
      p = hoist_from_loop(p, at(p, rows));
    }
  }
  return p;
}

// The statements of a block of rows become loops of their own: scalars get a place per row.
ProcPtr separate_rows(ProcPtr p, Path& rows, int64_t count) {
  const Sym row = loop_at(p, rows)->iter;
  for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, rows)).size()); ++k) {
    if (!stmt_at(*p, child(rows, k))->as<Alloc>()) continue;
    p = expand_dim(p, at(p, child(rows, k)), int_const(count), read_var(row, ScalarType::kIndex));
    p = lift_alloc(p, at(p, child(rows, k)), 1);
    rows = sibling(rows, 1);
    --k;
  }
  return fission_as_much_as_possible(p, at(p, rows));
}

}  // namespace

ProcPtr optimize_level_2(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t rows, int64_t interleave) {
  if (rows <= 1) return optimize_level_1(p, inner, unit, interleave);
  const std::vector<std::string> names = {outer + "o", outer + "i"};
  std::vector<Cursor> loops = require_loops(p, outer);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path top = c->path();
    const Sym row = c->as<For>().iter;
    bool has_inner = false, rectangular = true;
    for_each_stmt({stmt_at(*p, top)}, [&](const StmtPtr& s) {
      const For* f = s->as<For>();
      if (!f || f->iter.name() != inner) return;
      has_inner = true;
      rectangular = rectangular && !mentions(f->lo, row) && !mentions(f->hi, row);
    });
    if (!has_inner || !rectangular) continue;  // rows of a triangle end in different places
    p = divide_loop(p, at(p, top), rows, names, Tail::kCut);
    Path block = child(top);
    p = separate_rows(p, block, rows);
    const int count = static_cast<int>(block_at(*p, block).size());
    for (int k = count - 1; k >= block.back().index; --k) {
      const Path path = sibling(block, k - block.back().index);
      const For* f = loop_at(p, path);
      const For* inside = f && f->body.size() == 1 ? f->body[0]->as<For>() : nullptr;
      if (inside && inside->iter.name() == inner) p = optimize_rows(p, path, unit);
    }
  }
  // The boundary's rows one at a time, and loops along the columns elsewhere.
  if (!loops_named(p, inner).empty()) p = optimize_level_1(p, inner, unit, interleave);
  p = unroll_named(p, names[1]);
  p = unroll_named(p, inner + "u");
  return unroll_registers(p, unit.memory);
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
    if (only_loop(p, c->path(), inner)) p = reorder_loops(p, at(p, c->path()));
  }
  std::vector<int64_t> sizes;
  for (int64_t n = vectors; n >= 1; n /= 2) sizes.push_back(n * unit.lanes);
  p = block_loop(p, inner, sizes, {inner + "o", inner}, "");
  // A block of columns is a register tile of one row.
  const std::string row = outer + "r";
  std::vector<Cursor> blocks = loops_named(p, inner);
  for (auto c = blocks.rbegin(); c != blocks.rend(); ++c)
    if (only_loop(p, c->path(), outer))
      p = add_loop(p, at(p, c->path()), row, int_const(1), /*guard=*/false);
  p = register_block(p, row, inner, outer, unit);
  // What else runs along the columns, such as scaling by beta.
  if (!loops_named(p, inner).empty()) p = optimize_level_1(p, inner, unit, vectors);
  return unroll_registers(unroll_named(p, row), unit.memory);
}

}  // namespace exotune
