#include "core/library/level1.h"

#include <algorithm>

#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/reduction.h"

namespace exotune {

namespace {

Path child(Path path, int k = 0) {
  path.push_back({Child::kBody, k});
  return path;
}
Cursor at(const ProcPtr& p, const Path& path) { return Cursor::stmt(p, path); }
const For* loop_at(const ProcPtr& p, const Path& path) {
  StmtPtr s = stmt_at(*p, path);
  return s ? s->as<For>() : nullptr;
}

// The loop right after the one at `path` that divide_loop made of its boundary, perhaps under a
// guard; the empty path when there is none.
Path boundary_after(const ProcPtr& p, const Path& path, const std::string& name) {
  Path next = sibling(path, 1);
  StmtPtr s = stmt_at(*p, next);
  if (s && s->as<If>()) next = child(next);
  const For* f = s ? loop_at(p, next) : nullptr;
  return f && f->iter.name() == name ? next : Path();
}

// The innermost loop of a nest that is perfect from `path` down.
Path innermost(const ProcPtr& p, Path path) {
  for (;;) {
    const Block& body = body_of(*stmt_at(*p, path));
    if (body.size() != 1 || !body[0]->as<For>()) return path;
    path = child(path);
  }
}

// Is the nest at `path` a single sum whose target does not move along any of its loops but `free`?
bool is_reduction(const ProcPtr& p, const Path& path, Sym iter) {
  StmtPtr s = stmt_at(*p, path);
  while (body_of(*s).size() == 1) s = body_of(*s)[0];
  const Reduce* r = s->as<Reduce>();
  if (!r) return false;
  for (const ExprPtr& e : r->idx)
    if (mentions(e, iter)) return false;
  return true;
}

// A nest `for seq: for row: for lane: r[row] += e` becomes instructions, with an accumulator per
// row.
ProcPtr finish_sums(ProcPtr p, const Path& top, const VectorUnit& unit) {
  StmtPtr s = stmt_at(*p, top);
  while (body_of(*s).size() == 1) s = body_of(*s)[0];
  p = parallelize_reduction(p, at(p, top), s->as<Reduce>()->name.name() + "_acc", unit.memory);
  for (int k = 3; k >= 1; --k)  // alloc, zero, main, add: last first
    p = vectorize_lanes(p, at(p, innermost(p, sibling(top, k))), unit);
  return p;
}

// A nest `for seq: [for u:] for lane: s` becomes instructions. `top` is the sequential loop.
ProcPtr finish_elements(ProcPtr p, const Path& top, const VectorUnit& unit) {
  p = vectorize_lanes(p, at(p, innermost(p, top)), unit);
  // Broadcasts out of the loops, innermost first.
  Path path = top;
  while (loop_at(p, child(path)) && body_of(*stmt_at(*p, path)).size() == 1) path = child(path);
  for (;;) {
    Cursor loop = at(p, path);
    p = hoist_from_loop(p, loop);
    if (path.size() == top.size()) break;
    path = parent_stmt(path);
  }
  return p;
}

// A sum of the loop at `top` into one element:
//   acc = 0
//   if 0 < n / (U*V): accs = 0; for U vectors at a time: accs[u] += e; acc += accs[u]
//   for the vectors left: acc += e
//   for the guarded rest: acc += e
//   r += lanes of acc
// One accumulator takes what all parts sum, so that its lanes are added up once.
ProcPtr optimize_sum(ProcPtr p, const Path& top, const VectorUnit& unit, int64_t interleave) {
  const std::string name = loop_at(p, top)->iter.name();
  const std::vector<std::string> vectors = {name + "v", name + "l"};
  StmtPtr s = stmt_at(*p, top);
  while (body_of(*s).size() == 1) s = body_of(*s)[0];
  const std::string acc = s->as<Reduce>()->name.name() + "_acc";
  const auto extent = literal_extent(*loop_at(p, top));
  const ExprPtr trips = loop_at(p, top)->hi - loop_at(p, top)->lo;
  const bool whole = extent && *extent % unit.lanes == 0;

  p = divide_loop(p, at(p, top), unit.lanes, vectors, whole ? Tail::kPerfect : Tail::kGuard);
  p = parallelize_reduction(p, at(p, top), acc, unit.memory);
  // alloc, zero, then the parts one after another, add
  const Path zero = sibling(top, 1), main = sibling(top, 2);
  int parts = 1;  // from `main` on
  const bool has_vectors = whole || !extent || *extent > unit.lanes;
  if (!whole && has_vectors) {
    p = cut_loop(p, at(p, main), bin_op(BinOpKind::kDiv, trips, int_const(unit.lanes)));
    p = simplify(p, at(p, main));
    ++parts;
  }
  const bool several = has_vectors && interleave > 1;  // vectors at a time, in the first part
  if (several) {
    p = divide_loop(p, at(p, main), interleave, {name + "o", name + "u"}, Tail::kCut);
    if (!boundary_after(p, main, name + "u").empty()) ++parts;
  }
  for (int k = parts; k > (several ? 0 : -1); --k)  // the last is the addition of the lanes
    p = vectorize_lanes(p, at(p, innermost(p, sibling(main, k))), unit);
  if (several) {
    Path first = main;
    if (!extent) {  // not worth its accumulators for a few elements
      const For& f = *loop_at(p, first);
      p = specialize(p, at(p, first), {bin_op(BinOpKind::kLt, f.lo, f.hi)});
      Path otherwise = first;
      otherwise.push_back({Child::kOrelse, 0});
      p = eliminate_dead_code(p, at(p, otherwise));
      first = child(first);
    }
    p = parallelize_reduction(p, at(p, first), acc + "s", unit.memory);
    p = vectorize_lanes(p, at(p, innermost(p, sibling(first, 3))), unit);
    p = vectorize_lanes(p, at(p, innermost(p, sibling(first, 2))), unit);
    p = vectorize_lanes(p, at(p, innermost(p, sibling(first, 1))), unit);
  }
  return vectorize_lanes(p, at(p, zero), unit);
}

ProcPtr optimize_one(ProcPtr p, const Cursor& loop, const VectorUnit& unit, int64_t interleave) {
  const Path top = loop.path();
  const std::string name = loop.as<For>().iter.name();
  const std::vector<std::string> vector_names = {name + "v", name + "l"};
  auto extent = literal_extent(loop.as<For>());
  const int64_t lanes = unit.lanes;
  while (interleave > 1 && extent && *extent < interleave * lanes) interleave /= 2;
  if (is_reduction(p, top, loop.as<For>().iter)) return optimize_sum(p, top, unit, interleave);

  // The sequential loops of whole vectors, single vectors, and the guarded rest.
  std::vector<Path> segments = {top};
  Path rest = top;
  if (interleave > 1) {
    p = divide_loop(p, at(p, rest), interleave * lanes, {name + "o", name + "u"}, Tail::kCut);
    rest = boundary_after(p, top, name + "u");
    p = divide_loop(p, at(p, child(top)), lanes, {name + "u", name + "l"}, Tail::kPerfect);
    if (!rest.empty()) segments.push_back(rest);
  }
  if (!rest.empty()) {
    auto left = literal_extent(*loop_at(p, rest));
    if (left && *left < lanes) {
      p = divide_loop(p, at(p, rest), lanes, vector_names, Tail::kGuard);
    } else {
      p = divide_loop(p, at(p, rest), lanes, vector_names, Tail::kCut);
      const Path last = boundary_after(p, rest, vector_names[1]);
      if (!last.empty()) {
        p = divide_loop(p, at(p, last), lanes, vector_names, Tail::kGuard);
        segments.push_back(last);
      }
    }
  }
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment)
    p = finish_elements(p, *segment, unit);
  return p;
}

// Unrolls the loops of this name that have literal bounds, wherever they are.
ProcPtr unroll_named(ProcPtr p, const std::string& name) {
  std::vector<Cursor> loops = loops_named(p, name);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    if (literal_extent(c->as<For>())) p = unroll_loop(p, at(p, c->path()));
  return p;
}

}  // namespace

ProcPtr keep_scalars(ProcPtr p, const std::string& loop) {
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    Path path = c->path();
    for (const Arg& a : std::vector<Arg>(p->args)) {
      if (!is_data(a.type.scalar) || a.type.is_tensor() || !mentions(stmt_at(*p, path), a.name))
        continue;
      bool written = false;
      for_each_stmt({stmt_at(*p, path)}, [&](const StmtPtr& s) {
        if (const Assign* w = s->as<Assign>()) written = written || w->name == a.name;
        if (const Reduce* w = s->as<Reduce>()) written = written || w->name == a.name;
      });
      if (written) continue;
      p = stage_mem(p, at(p, path), a.name.name(), a.name.name() + "_r");
      path = sibling(path, 2);  // allocation and copy stand before it now
    }
  }
  return p;
}

ProcPtr optimize_level_1(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                         int64_t interleave) {
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    p = optimize_one(p, at(p, c->path()), unit, interleave);
  p = unroll_named(p, loop + "u");
  return unroll_registers(p, unit.memory);
}

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

}  // namespace exotune
