// Loops and ifs by their nesting: reorder, lift.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {

// A sequential loop may pass out over a `par` loop freely; the other way round, iterations that
// were ordered run in parallel.
void require_parallel_stays(const Proc& result, const Path& at, const char* op) {
  const For& f = *stmt_at(result, at)->as<For>();
  const For& g = *f.body[0]->as<For>();
  if (f.mode == LoopMode::kPar && g.mode == LoopMode::kSeq)
    require(loop_parallel(result, at), op, "the parallel loop would race once outside");
}

struct Ranges {
  ExprPtr outer_lo, outer_hi, inner_lo,
      inner_hi;   // of the loop that comes to stand outside / inside
  ExprPtr guard;  // around the body; null: none
};

// A bound that depends on i: c + (i + d) / q, or c - i.
struct Edge {
  ExprPtr c, d;
  int64_t q = 1;
  bool falls = false;
};

// e - i when that is free of i.
ExprPtr offset(const ExprPtr& e, Sym i) {
  const auto a = affine(e);
  if (!a || a->coeff_of(i) != 1) return nullptr;
  ExprPtr c = normalize(minus(e, read_var(i, ScalarType::kIndex)));
  return mentions(c, i) ? nullptr : c;
}

std::optional<Edge> edge_of(const ExprPtr& e, Sym i) {
  const ExprPtr iter = read_var(i, ScalarType::kIndex);
  if (ExprPtr c = offset(e, i)) return Edge{c, int_const(0)};
  const auto a = affine(e);
  if (!a) return std::nullopt;
  if (a->coeff_of(i) == -1) {
    ExprPtr c = normalize(plus(e, iter));
    if (!mentions(c, i)) return Edge{c, int_const(0), 1, true};
  }
  for (const Affine::Term& t : a->terms) {
    const BinOp* o = t.coeff == 1 ? t.atom->as<BinOp>() : nullptr;
    if (!o || o->op != BinOpKind::kDiv || !mentions(t.atom, i)) continue;
    ExprPtr d = offset(o->lhs, i), c = normalize(minus(e, t.atom));
    const auto q = literal(o->rhs);
    if (d && q && *q > 0 && !mentions(c, i)) return Edge{c, d, *q};
  }
  return std::nullopt;
}

// The first i for which the edge lies above j, when it rises: q * (j - c + 1) - d.
ExprPtr first_above(const Edge& e, const ExprPtr& j) {
  return normalize(minus(times(e.q, plus(minus(j, e.c), int_const(1))), e.d));
}
ExprPtr value_of(const Edge& e, const ExprPtr& i) {
  if (e.falls) return normalize(minus(e.c, i));
  const ExprPtr moved = plus(i, e.d);
  return normalize(plus(e.q == 1 ? moved : floor_div(moved, e.q), e.c));
}

// The exact ranges of `for j: for i:` for `for i in [lo, hi): for j in [l, h)` where one of l and h
// is an edge whose other end is no bound of i; nothing where that is not proved.
std::optional<Ranges> straight(const Proc& p, const Path& at, const For& f, const For& g,
                               bool upper, const Edge& e) {
  const ExprPtr j = read_var(g.iter, ScalarType::kIndex);
  const ExprPtr last = minus(f.hi, int_const(1));
  auto proved = [&](const ExprPtr& a, const ExprPtr& b) {
    return static_cast<bool>(prove(p, at, less_equal(normalize(a), normalize(b))));
  };
  if (upper && !e.falls) {  // j < edge(i)  <=>  first_above(j) <= i
    if (!proved(f.lo, first_above(e, g.lo))) return std::nullopt;
    return Ranges{g.lo, value_of(e, last), first_above(e, j), f.hi, nullptr};
  }
  if (upper) {  // j < c - i  <=>  i < c - j
    if (!proved(minus(e.c, g.lo), f.hi)) return std::nullopt;
    return Ranges{g.lo, value_of(e, f.lo), f.lo, normalize(minus(e.c, j)), nullptr};
  }
  if (!e.falls) {  // edge(i) <= j  <=>  i < first_above(j)
    if (!proved(first_above(e, minus(g.hi, int_const(1))), f.hi)) return std::nullopt;
    return Ranges{value_of(e, f.lo), g.hi, f.lo, first_above(e, j), nullptr};
  }
  // c - i <= j  <=>  c - j <= i
  if (!proved(f.lo, plus(minus(e.c, g.hi), int_const(1)))) return std::nullopt;
  return Ranges{value_of(e, last), g.hi, normalize(minus(e.c, j)), f.hi, nullptr};
}

// The least or largest value that a bound takes over i in [lo, hi), in which it is affine (or an
// edge); null when it is neither.
ExprPtr extreme(const ExprPtr& e, const For& f, bool largest) {
  if (!mentions(e, f.iter)) return e;
  const ExprPtr last = minus(f.hi, int_const(1));
  if (const std::optional<Edge> edge = edge_of(e, f.iter))
    return value_of(*edge, edge->falls == largest ? f.lo : last);
  const auto a = affine(e);
  if (!a) return nullptr;
  for (const Affine::Term& t : a->terms)
    if (mentions(t.atom, f.iter) && !t.atom->as<Read>()) return nullptr;
  const bool rises = a->coeff_of(f.iter) > 0;
  return normalize(substitute(e, f.iter, rises == largest ? last : f.lo));
}

// The exact ranges of `for j: for i:` for `for i in [lo, hi): for j in [l, h)`, or refuses. With
// `guard`, where the edge is not straight: all of both ranges, and the old bounds as a condition.
Ranges interchanged(const Proc& p, const Path& at, const For& f, const For& g, bool guard,
                    const char* op) {
  const bool low = mentions(g.lo, f.iter), high = mentions(g.hi, f.iter);
  if (!low && !high) return {g.lo, g.hi, f.lo, f.hi, nullptr};
  const std::optional<Edge> edge = low != high ? edge_of(high ? g.hi : g.lo, f.iter) : std::nullopt;
  if (edge)
    if (std::optional<Ranges> r = straight(p, at, f, g, high, *edge)) return *r;
  const ExprPtr lo = extreme(g.lo, f, false), hi = extreme(g.hi, f, true);
  const std::string names = "'" + g.iter.name() + "' depend on '" + f.iter.name() + "'";
  if (!lo || !hi) refuse(op, "the bounds of " + names);
  if (!guard)
    refuse(op,
           edge
               ? "cannot prove that the triangle of iterations has straight edges: the bounds of " +
                     names
               : "the bounds of " + names,
           "reorder_loops(p, '" + f.iter.name() + " " + g.iter.name() + "') puts a guard inside");
  const ExprPtr j = read_var(g.iter, ScalarType::kIndex);
  ExprPtr inside;
  if (low) inside = less_equal(g.lo, j);
  if (high) inside = inside ? both(inside, less(j, g.hi)) : less(j, g.hi);
  return {lo, hi, f.lo, f.hi, inside};
}

void swap_loops(Rewrite& rw, const Path& at, bool guard, const char* op) {
  const Proc& p = *rw.original();
  const For& f = *stmt_at(p, at)->as<For>();
  const For& g = *f.body[0]->as<For>();
  for (const ExprPtr& e : {f.lo, f.hi, g.lo, g.hi}) require_stable(p, body_path(at), 1, e, op);
  Ranges r = interchanged(p, at, f, g, guard, op);
  LoopAnswer commute = loops_interchange(p, at);
  require(
      commute, op,
      "iterations of '" + f.iter.name() + "' and '" + g.iter.name() + "' that swap do not commute");
  rw.flags.reassociates |= commute.reassociates;
  const int n = static_cast<int>(g.body.size());
  rw.swap(at, make_for(g.iter, r.outer_lo, r.outer_hi,
                       {make_for(f.iter, r.inner_lo, r.inner_hi, g.body, f.mode)}, g.mode));
  if (r.guard)
    rw.wrap(body_path(body_path(at)), n, [&](Block b) { return make_if(r.guard, std::move(b)); });
  require_parallel_stays(rw.proc(), at, op);
}

// The statement under a fresh copy of an if or for that now stands in a second branch.
Block under(const Stmt& outer, Block inner) {
  if (const For* f = outer.as<For>())
    return refresh_binders({make_for(f->iter, f->lo, f->hi, std::move(inner), f->mode)});
  const If& i = *outer.as<If>();
  return {make_if(i.cond, std::move(inner), refresh_binders(i.orelse))};
}

}  // namespace

ProcPtr reorder_loops(ProcPtr p, const Where& where) {
  static const char op[] = "reorder_loops";
  Cursor c = where.nested(p);
  Rewrite rw(p);
  swap_loops(rw, c.path(), /*guard=*/true, op);
  return rw.finish(op, {place(where, c)});
}

ProcPtr lift_scope(ProcPtr p, const Where& where) {
  static const char op[] = "lift_scope";
  Cursor c = where.scope(p);
  const Path inner_path = c.path();
  const Path at = parent_stmt(inner_path);
  if (at.empty()) refuse(op, "there is no loop or if around '" + c.describe() + "'");
  const StmtPtr outer = stmt_at(*p, at), inner = c.stmt();
  const bool in_orelse = inner_path.back().child == Child::kOrelse;
  if (block_at(*p, inner_path).size() != 1)
    refuse(op, "the scope must be the only statement of the one around it",
           "fission the outer scope first");
  Rewrite rw(p);
  const For *outer_for = outer->as<For>(), *inner_for = inner->as<For>();
  const If *outer_if = outer->as<If>(), *inner_if = inner->as<If>();
  if (outer_for && inner_for) {
    swap_loops(rw, at, /*guard=*/false, op);
  } else if (outer_for) {
    if (mentions(inner_if->cond, outer_for->iter))
      refuse(op, "the condition depends on '" + outer_for->iter.name() + "'");
    require_stable(*p, inner_path, 1, inner_if->cond, op);
    Block orelse;
    if (!inner_if->orelse.empty()) orelse = under(*outer, inner_if->orelse);
    Block body = {
        make_for(outer_for->iter, outer_for->lo, outer_for->hi, inner_if->body, outer_for->mode)};
    rw.swap(at, make_if(inner_if->cond, std::move(body), std::move(orelse)));
  } else if (inner_for) {
    if (!outer_if->orelse.empty()) refuse(op, "the if around the loop has an else branch");
    require_stable(*p, inner_path, 1, outer_if->cond, op);
    rw.swap(at, make_for(inner_for->iter, inner_for->lo, inner_for->hi,
                         {make_if(outer_if->cond, inner_for->body)}, inner_for->mode));
  } else if (!in_orelse) {
    Block body = {make_if(outer_if->cond, inner_if->body, outer_if->orelse)};
    Block orelse;
    if (!inner_if->orelse.empty())
      orelse = under(*outer, inner_if->orelse);
    else if (!outer_if->orelse.empty())
      orelse = {make_if(outer_if->cond, {make_pass()}, refresh_binders(outer_if->orelse))};
    rw.swap(at, make_if(inner_if->cond, std::move(body), std::move(orelse)));
  } else {
    Block body = {make_if(outer_if->cond, outer_if->body, inner_if->body)};
    Block orelse = {make_if(outer_if->cond, refresh_binders(outer_if->body), inner_if->orelse)};
    rw.swap(at, make_if(inner_if->cond, std::move(body), std::move(orelse)), /*from_orelse=*/true);
  }
  if (outer_if || inner_if) require_still_checks(rw.proc(), {outer}, op);
  return rw.finish(op, {place(where, c)});
}

ProcPtr rename_loop(ProcPtr p, const Where& where, const std::string& name) {
  static const char op[] = "rename_loop";
  Cursor c = where.loop(p);
  require_name(op, name);
  const For& f = c.as<For>();
  const Sym iter = Sym::fresh(name);
  Rewrite rw(p);
  rw.replace_keep(c.path(),
                  make_for(iter, f.lo, f.hi,
                           substitute(f.body, f.iter, read_var(iter, ScalarType::kIndex)), f.mode));
  return rw.finish(op, {place(where, c), name});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> loops_order_operators() {
  using namespace params;
  return {
      {"reorder_loops",
       {proc(), place("nested_loops")},
       "for i: for j: s  ->  for j: for i: s",
       [](const OperatorArgs& a) -> Value { return reorder_loops(a.proc(), a.where(1)); }},
      {"rename_loop",
       {proc(), place("loop"), new_name("name")},
       "for i in seq(lo, hi): s  ->  for name in seq(lo, hi): s[i -> name]",
       [](const OperatorArgs& a) -> Value {
         return rename_loop(a.proc(), a.where(1), a.string(2));
       }},
      {"lift_scope",
       {proc(), place("scope")},
       "for i: if c: s  ->  if c: for i: s   (for/if out of for/if)",
       [](const OperatorArgs& a) -> Value { return lift_scope(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
