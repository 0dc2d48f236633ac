#include "core/library/level1.h"

#include <algorithm>
#include <set>

#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/reduction.h"
#include "core/library/sinking.h"
#include "core/library/statements.h"
#include "core/library/sums_beside.h"
#include "core/library/vector_loops.h"

namespace exotune {

namespace {

// The statements of its block from the one at `path` on.
int statements_from(const Proc& p, const Path& path) {
  int count = 0;
  while (stmt_at(p, sibling(path, count))) ++count;
  return count;
}

// acc[l] += accs[u, l] over U accumulators, the loop at `sum`, in two chains of half the length:
//   acc += the first half; half = 0; half += the second half; acc += half
// The paths of the loops that it became.
std::vector<Path> sum_in_halves(ProcPtr& p, const Path& sum, const std::string& acc,
                                int64_t accumulators, const VectorUnit& unit) {
  if (accumulators < 4 || accumulators % 2 != 0) return {sum};
  const Path second = sibling(sum, 1);
  p = cut_loop(p, at(p, sum), int_const(accumulators / 2));
  p = stage_mem(p, at(p, second), acc + "[0:" + std::to_string(unit.lanes) + "]", acc + "_half",
                /*accum=*/true);
  p = set_memory(p, at(p, second), unit.memory);
  return {sum, sibling(second, 1), sibling(second, 2), sibling(second, 3)};
}

// A sum of the loop at `top` into one element:
//   acc = 0
//   for the vectors left: acc += e
//   if some elements are left: acc += e, guarded
//   if 0 < n / (U*V): accs = 0; for U vectors at a time: accs[u] += e; acc += accs[u], in halves
//   r += lanes of acc
// One accumulator takes what all parts sum, so that its lanes are added up once. What is left over
// goes first: its additions, one behind the other, are made while the main part is on its way.
ProcPtr optimize_sum(ProcPtr p, const Path& top, const VectorUnit& unit, int64_t interleave) {
  const std::string name = find_loop(p, top)->iter.name();
  const std::vector<std::string> vectors = {name + "v", name + "l"};
  const std::string acc = accumulator_of(p, top);
  const auto extent = literal_extent(*find_loop(p, top));
  const ExprPtr trips = find_loop(p, top)->hi - find_loop(p, top)->lo;
  const bool whole = extent && *extent % unit.lanes == 0;

  p = divide_loop(p, at(p, top), unit.lanes, vectors, whole ? Tail::kPerfect : Tail::kGuard);
  p = parallelize_reduction(p, at(p, top), acc, unit.memory);
  // alloc, zero, then the parts one after another, add
  const Path zero = sibling(top, 1), main = sibling(top, 2);
  int parts = 1;  // from `main` on
  bool has_vectors = whole || !extent || *extent > unit.lanes;
  if (!whole && has_vectors) {
    p = cut_loop(p, at(p, main), bin_op(BinOpKind::kDiv, trips, int_const(unit.lanes)));
    const int before = statements_from(*p, main);
    p = simplify(p, at(p, main));
    // Of a remainder, which is shorter than a vector, no whole vectors are left.
    has_vectors = statements_from(*p, main) == before;
    parts += has_vectors ? 1 : 0;
  }
  const bool several = has_vectors && interleave > 1;  // vectors at a time, in the first part
  if (several) {
    p = divide_loop(p, at(p, main), interleave, {name + "o", name + "u"}, Tail::kCut);
    if (!boundary_after(p, main, name + "u").empty()) ++parts;
    if (parts > 1) p = reorder_blocks(p, Cursor::block(p, main, parts), 1);
  }
  const int sums = several ? parts - 1 : parts + 1;  // the part of several vectors; none
  for (int k = parts; k >= 0; --k)                   // the last is the addition of the lanes
    if (k != sums) p = vectorize_lanes(p, at(p, innermost(p, sibling(main, k))), unit);
  if (several) {
    Path first = sibling(main, sums);
    if (!extent) {  // not worth its accumulators for a few elements
      const For& f = *find_loop(p, first);
      p = specialize(p, at(p, first), {bin_op(BinOpKind::kLt, f.lo, f.hi)});
      Path otherwise = first;
      otherwise.push_back({Child::kOrelse, 0});
      p = eliminate_dead_code(p, at(p, otherwise));
      first = child(first);
    }
    p = parallelize_reduction(p, at(p, first), acc + "s", unit.memory);
    const std::vector<Path> additions = sum_in_halves(p, sibling(first, 3), acc, interleave, unit);
    for (auto loop = additions.rbegin(); loop != additions.rend(); ++loop)
      p = vectorize_lanes(p, at(p, innermost(p, *loop)), unit);
    p = vectorize_lanes(p, at(p, innermost(p, sibling(first, 2))), unit);
    p = vectorize_lanes(p, at(p, innermost(p, sibling(first, 1))), unit);
  }
  p = vectorize_lanes(p, at(p, zero), unit);
  if (extent) return p;
  // At most one guarded vector: a question costs less than a loop.
  const Path guarded = sibling(main, several ? parts - 2 : parts - 1);
  attempted(p, [&](ProcPtr q) { return remove_loop(q, at(q, guarded)); });
  return p;
}

}  // namespace

ProcPtr optimize_level_1_loop(ProcPtr p, const Cursor& loop, const VectorUnit& unit,
                              int64_t interleave) {
  const Path top = loop.path();
  const std::string name = loop.as<For>().iter.name();
  const std::vector<std::string> vector_names = {name + "v", name + "l"};
  auto extent = literal_extent(loop.as<For>());
  const int64_t lanes = unit.lanes;
  while (interleave > 1 && extent && *extent < interleave * lanes) interleave /= 2;
  if (is_reduction(p, top, loop.as<For>().iter))
    return whole_and_rest(p, top, lanes,
                          [&](const ProcPtr& q) { return optimize_sum(q, top, unit, interleave); });
  if (has_sums_beside(p, top) && attempted(p, [&](const ProcPtr& q) {
        return optimize_sums_beside(q, top, unit, interleave);
      }))
    return p;

  const auto finish = [&](const ProcPtr& q, const Path& segment) {
    std::vector<Path> inner = {child(segment)};
    if (interleave > 1 && segment == top) inner.push_back(child(inner.back()));
    return holds_scopes(*q, inner.back()) ? finish_around_loops(q, segment, inner, unit)
                                          : finish_elements(q, segment, unit);
  };
  const auto guarded = [&](const Path& segment) {
    return [&, segment](const ProcPtr& q) {
      return finish(divide_loop(q, at(q, segment), lanes, vector_names, Tail::kGuard), segment);
    };
  };

  // The sequential loops of whole vectors, single vectors, and the guarded rest: of that, where no
  // instruction does it, single elements.
  std::vector<Path> segments = {top};
  Path rest = top;
  if (interleave > 1) {
    p = divide_loop(p, at(p, rest), interleave * lanes, {name + "o", name + "u"}, Tail::kCut);
    rest = boundary_after(p, top, name + "u");
    p = divide_loop(p, at(p, child(top)), lanes, {name + "u", name + "l"}, Tail::kPerfect);
    if (!rest.empty()) segments.push_back(rest);
  }
  if (!rest.empty()) {
    auto left = literal_extent(*find_loop(p, rest));
    if (left && *left < lanes) {
      if (rest == top) return guarded(rest)(p);
      attempted(p, guarded(rest));
      segments.pop_back();
    } else {
      p = divide_loop(p, at(p, rest), lanes, vector_names, Tail::kCut);
      const Path last = boundary_after(p, rest, vector_names[1]);
      if (!last.empty()) attempted(p, guarded(last));
    }
  }
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment)
    p = finish(p, *segment);
  return p;
}

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

namespace {

// The elements that loops inside the body at `path` add to and do not choose.
std::vector<const Reduce*> sums_in(const Proc& p, const Path& path) {
  std::vector<const Reduce*> out;
  for (const Path& at : all_stmt_paths(p)) {
    if (at.size() < path.size() + 2 || !std::equal(path.begin(), path.end(), at.begin())) continue;
    const Reduce* r = stmt_at(p, at)->as<Reduce>();
    if (!r || r->idx.empty()) continue;
    bool chosen = false;
    for (size_t n = path.size() + 1; n < at.size(); ++n)
      if (const For* f = stmt_at(p, Path(at.begin(), at.begin() + static_cast<long>(n)))->as<For>())
        for (const ExprPtr& e : r->idx) chosen = chosen || mentions(e, f->iter);
    if (!chosen) out.push_back(r);
  }
  return out;
}

}  // namespace

ProcPtr keep_sums(ProcPtr p, const std::string& loop) {
  bool any = false;
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const ProcPtr before = p;
    std::set<std::string> kept;
    for (const Reduce* r : sums_in(*before, c->path())) {
      const Path body = child(c->path());
      const std::string element = str(read_elem(r->name, r->idx, r->rhs->type), scope_at(*p, body));
      if (!kept.insert(element).second) continue;
      const Cursor block = Cursor::block(p, body, statements_from(*p, body));
      p = stage_mem(p, block, element, r->name.name() + "_r");
      any = true;
    }
  }
  if (!any) throw SchedulingError("keep_sums: no loop inside `" + loop + "` adds to one element");
  return p;
}

ProcPtr optimize_level_1(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                         int64_t interleave) {
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    p = optimize_level_1_loop(take_reciprocals(p, at(p, c->path())), at(p, c->path()), unit,
                              interleave);
  p = unroll_named(p, loop + "u");
  return unroll_registers(p, unit.memory);
}

namespace {

// Instructions of most targets: no calls, and short.
bool is_short(const std::string& function) {
  static const std::set<std::string> all = {"fabs",  "fmax", "fmin", "relu",  "select", "sqrt",
                                            "floor", "ceil", "rint", "trunc", "round"};
  return all.count(function) > 0;
}

// One with no other inside it; invalid: there is none.
Cursor innermost_function(const Cursor& e) {
  const int children = static_cast<int>(expr_children(*e.expr()).size());
  for (int k = 0; k < children; ++k)
    if (const Cursor inner = innermost_function(e.child_expr(k)); inner.valid()) return inner;
  const Extern* f = e.expr()->as<Extern>();
  return f && !is_short(f->fn) ? e : Cursor();
}

// What the statement at `path` assigns or adds.
Cursor value_at(const ProcPtr& p, const Path& path) { return at(p, path).rhs(); }

bool has_several_functions(const For& f) {
  const StmtPtr& s = f.body.front();
  const ExprPtr* value = nullptr;
  if (const Assign* a = s->as<Assign>()) value = &a->rhs;
  if (const Reduce* r = s->as<Reduce>()) value = &r->rhs;
  return f.body.size() == 1 && value && functions_in(*value) > 1;
}

}  // namespace

int functions_in(const ExprPtr& e) {
  const Extern* f = e->as<Extern>();
  int count = f && !is_short(f->fn) ? 1 : 0;
  for (const ExprPtr& child : expr_children(*e)) count += functions_in(child);
  return count;
}

ProcPtr stage_functions(ProcPtr p, const Where& where, int64_t size) {
  const Cursor c = where.loop(p);
  if (!has_several_functions(c.as<For>()))
    throw SchedulingError("stage_functions: the loop is not one statement with several functions");
  const std::string name = c.as<For>().iter.name();
  Path path = child(c.path());
  p = divide_loop(p, c, size, {name + "o", name}, Tail::kCut);
  while (functions_in(value_at(p, child(path)).expr()) > 1) {
    const Cursor function = innermost_function(value_at(p, child(path)));
    p = bind_expr(p, function, function.expr()->as<Extern>()->fn + "_" + name);
    const Cursor buffer = at(p, child(path));
    const Sym iter = find_loop(p, path)->iter;
    p = expand_dim(p, buffer, int_const(size), read_var(iter, ScalarType::kIndex));
    p = lift_alloc(p, forward(p, buffer), 1);
    path = sibling(path, 1);
    p = fission(p, Cursor::gap(p, child(path, 1)), 1);
    path = sibling(path, 1);
  }
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> level1_operators() {
  using namespace params;
  return {
      {"optimize_level_1",
       {proc(), string("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("interleave", 4)},
       "for i: s  ->  `interleave` vectors an iteration, then single ones, then a guarded one",
       [](const OperatorArgs& a) -> Value {
         return optimize_level_1(a.proc(), a.string(1), vector_unit(a, 2, 3, 4), a.small(5));
       }},
      {"keep_scalars",
       {proc(), string("loop")},
       "for i: s(alpha)  ->  alpha_r = alpha; for i: s(alpha_r)   for scalars that are only read",
       [](const OperatorArgs& a) -> Value { return keep_scalars(a.proc(), a.string(1)); }},
      {"keep_sums",
       {proc(), string("loop")},
       "for i: { y[i] = 0; for r: y[i] += e }  ->  for i: { y_r = 0; for r: y_r += e; y[i] = y_r }",
       [](const OperatorArgs& a) -> Value { return keep_sums(a.proc(), a.string(1)); }},
      {"stage_functions",
       {proc(), place("loop"), integer("size", 64)},
       "for i: y[i] = f(g(x[i]))  ->  for io: { for i: t[i] = g(x[i]) ; for i: y[i] = f(t[i]) }",
       [](const OperatorArgs& a) -> Value {
         return stage_functions(a.proc(), a.where(1), a.integer(2));
       }},
  };
}

}  // namespace exotune
