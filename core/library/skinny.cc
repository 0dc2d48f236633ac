#include "core/library/skinny.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/ir/normal_form.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/reduction.h"
#include "core/library/staging.h"
#include "core/library/vector_loops.h"

namespace exotune {
// Matrix-vector products with few columns: the vector fits in registers, so that it is read once
// for all rows. The number of registers depends on a size, hence a case for each.

namespace {

constexpr int64_t kMostVectors = 16;

// At the iterator, or as far from it in all iterations.
bool runs_along(const std::vector<ExprPtr>& idx, Sym iter) {
  if (idx.size() != 1 || !mentions(idx[0], iter)) return false;
  return !mentions(normalize(idx[0] - read_var(iter, ScalarType::kIndex)), iter);
}

// The one-dimensional buffers that a loop touches along its iterator, each at one distance from it:
// those written, the last one first, then those read of what it computes in; of another type only
// if there is nothing else.
std::vector<std::string> reused_vectors(const Cursor& inner) {
  const For& loop = inner.as<For>();
  std::vector<std::string> written, read, others;
  std::map<std::string, ExprPtr> distance;
  std::set<std::string> at_several;
  std::optional<ScalarType> type;
  const auto add = [&](const Sym& name, const std::vector<ExprPtr>& idx,
                       std::vector<std::string>& to) {
    if (!runs_along(idx, loop.iter)) return;
    const ExprPtr at = normalize(idx[0] - read_var(loop.iter, ScalarType::kIndex));
    const auto [known, first] = distance.emplace(name.name(), at);
    if (!first && !equal(known->second, at)) at_several.insert(name.name());
    if (std::find(to.begin(), to.end(), name.name()) == to.end()) to.push_back(name.name());
  };
  for_each_stmt(loop.body, [&](const StmtPtr& s) {
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    if (!a && !r) return;
    type = (a ? a->rhs : r->rhs)->type;
    add(a ? a->name : r->name, a ? a->idx : r->idx, written);
  });
  std::reverse(written.begin(), written.end());
  const std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& x) {
    if (const Read* v = x->as<Read>())
      add(v->name, v->idx, x->type == type.value_or(x->type) ? read : others);
    for (const ExprPtr& c : expr_children(*x)) visit(c);
  };
  for_each_expr(loop.body, visit);
  std::vector<std::string> out;
  for (const auto* names : {&written, &read})
    for (const std::string& name : *names)
      if (!at_several.count(name) && std::find(out.begin(), out.end(), name) == out.end())
        out.push_back(name);
  for (const std::string& name : others)
    if (out.empty() && !at_several.count(name)) out.push_back(name);
  if (out.empty())
    throw SchedulingError("opt_skinny: no vector runs along `" + loop.iter.name() + "`");
  return out;
}

// The loop over `inner` that stands in the loop at `outer`, alone or among other statements.
Path inner_loop(const ProcPtr& p, const Path& outer, const std::string& inner) {
  const Block& body = body_of(*stmt_at(*p, outer));
  Path found;
  for (size_t k = 0; k < body.size(); ++k) {
    const For* f = body[k]->as<For>();
    if (!f || f->iter.name() != inner) continue;
    if (!found.empty()) return {};
    found = child(outer, static_cast<int>(k));
  }
  return found;
}

// for j in seq(0, n): s, with lanes * (count - 1) < n <= lanes * count
//   ->  for jv in seq(0, count - 1): whole vector; guarded vector
ProcPtr in_vectors(ProcPtr p, const Path& top, const VectorUnit& unit, int64_t count) {
  const For loop = *find_loop(p, top);
  const auto extent = literal_extent(loop);
  const bool whole = extent && *extent % unit.lanes == 0;
  const bool sum = is_reduction(p, top, loop.iter);
  p = divide_loop(p, at(p, top), unit.lanes, {loop.iter.name() + "v", loop.iter.name() + "l"},
                  whole ? Tail::kPerfect : Tail::kGuard);
  if (!extent) {
    Path hi = top;
    hi.push_back({Child::kExpr, 1});
    p = rewrite_expr(p, Where(Cursor::expr(p, hi)), int_const(count));
  }
  p = simplify(p, at(p, top));  // (L * jv + jl) / L -> jv
  Path main = top;
  if (sum) {
    p = parallelize_reduction(p, at(p, top), accumulator_of(p, top), unit.memory);
    main = sibling(top, 2);  // after the allocation and the zeros
    p = vectorize_lanes(p, at(p, innermost(p, sibling(main, 1))), unit);
  }
  if (!whole && count > 1) {
    p = cut_loop(p, at(p, main), count - 1);
    p = simplify(p, at(p, main));
    p = finish_elements(p, sibling(main, 1), unit);
  }
  p = finish_elements(p, main, unit);
  return sum ? vectorize_lanes(p, at(p, innermost(p, sibling(top, 1))), unit) : p;
}

// One case: `count` registers hold each vector.
ProcPtr with_registers(ProcPtr p, Path outer, const std::string& inner, const VectorUnit& unit,
                       int64_t count) {
  for (const std::string& vector : reused_vectors(at(p, inner_loop(p, outer, inner)))) {
    Staged s = auto_stage_mem(p, at(p, outer), vector, vector + "_r");
    p = resize_dim(s.proc, s.alloc, 0, int_const(count * unit.lanes), int_const(0));
    p = divide_dim(p, s.alloc, 0, unit.lanes);
    p = set_memory(p, s.alloc, unit.memory);
    if (s.store.valid()) p = in_vectors(p, forward(p, s.store).path(), unit, count);
    if (s.load.valid()) p = in_vectors(p, forward(p, s.load).path(), unit, count);
    outer = forward(p, s.block).path();
  }
  return in_vectors(p, inner_loop(p, outer, inner), unit, count);
}

ExprPtr at_most(const For& loop, int64_t bound) {
  return bin_op(BinOpKind::kLe, loop.hi - loop.lo, int_const(bound));
}

}  // namespace

// Cases up to the limit; beyond it the loop is as it was.
ProcPtr opt_skinny(ProcPtr p, const std::string& outer, const std::string& inner,
                   const VectorUnit& unit, int64_t vectors) {
  std::vector<Cursor> nests = require_loops(p, outer);
  bool any = false;
  for (auto c = nests.rbegin(); c != nests.rend(); ++c) {
    Path path = c->path();
    const Path columns = inner_loop(p, path, inner);
    if (columns.empty()) continue;
    any = true;
    const For loop = *find_loop(p, columns);
    if (mentions(loop.lo, find_loop(p, path)->iter) || mentions(loop.hi, find_loop(p, path)->iter))
      throw SchedulingError("opt_skinny: the bounds of `" + inner + "` change with `" + outer +
                            "`");
    int64_t most = 1;
    const int64_t limit = vectors > 0 ? vectors : kMostVectors;
    while (most <= limit && !prove(*p, path, at_most(loop, most * unit.lanes))) ++most;
    if (most > limit)
      throw SchedulingError("opt_skinny: `" + inner + "` may have more than " +
                                std::to_string(limit * unit.lanes) + " iterations",
                            {}, "assert an upper bound of its extent");
    if (literal_extent(loop)) {
      p = with_registers(p, path, inner, unit, most);
      continue;
    }
    std::vector<ExprPtr> cases;
    for (int64_t v = 1; v < most; ++v) cases.push_back(at_most(loop, v * unit.lanes));
    if (!cases.empty()) p = specialize(p, at(p, path), cases);
    for (int64_t v = 1; v <= most; ++v) {
      Path branch = path;
      branch.push_back({v < most ? Child::kBody : Child::kOrelse, 0});
      p = with_registers(p, most == 1 ? path : branch, inner, unit, v);
      if (v + 1 < most) path.push_back({Child::kOrelse, 0});
    }
  }
  if (!any)
    throw SchedulingError("opt_skinny: no loop over `" + inner + "` stands alone in a loop over `" +
                          outer + "`");
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> skinny_operators() {
  using namespace params;
  return {
      {"opt_skinny",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 0)},
       "for i: for j in seq(0, n): s(v[j])  ->  if n <= vw: w = v; for i: s(w) elif n <= 2 * vw: "
       "...   "
       "(v in registers)",
       [](const OperatorArgs& a) -> Value {
         return opt_skinny(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                           a.integer(6));
       }},
  };
}

}  // namespace exotune
