// Loops and ifs by their nesting: reorder, lift.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"

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
  ExprPtr outer_lo, outer_hi, inner_lo, inner_hi;  // of the loop that comes to stand outside / inside
};

// The exact ranges of `for j: for i:` for `for i in [lo, hi): for j in [l, h)`, or refuses.
Ranges interchanged(const Proc& p, const Path& at, const For& f, const For& g, const char* op) {
  if (!mentions(g.lo, f.iter) && !mentions(g.hi, f.iter)) return {g.lo, g.hi, f.lo, f.hi};
  // Triangular: exactly one bound is i + c with c free of i.
  auto offset = [&](const ExprPtr& e) -> ExprPtr {
    auto a = affine(e);
    if (!a || a->coeff_of(f.iter) != 1) return nullptr;
    ExprPtr c = normalize(minus(e, read_var(f.iter, ScalarType::kIndex)));
    return mentions(c, f.iter) ? nullptr : c;
  };
  const ExprPtr j = read_var(g.iter, ScalarType::kIndex);
  const char* const why = "cannot prove that the triangle of iterations has straight edges";
  if (!mentions(g.lo, f.iter)) {
    if (ExprPtr c = offset(g.hi)) {
      // l <= j < i + c  <=>  l <= j < hi - 1 + c, j - c + 1 <= i < hi; lo is no bound of i.
      require(prove(p, at, less_equal(normalize(f.lo), normalize(plus(minus(g.lo, c), int_const(1))))), op, why);
      return {g.lo, normalize(plus(minus(f.hi, int_const(1)), c)),
              normalize(plus(minus(j, c), int_const(1))), f.hi};
    }
  } else if (!mentions(g.hi, f.iter)) {
    if (ExprPtr c = offset(g.lo)) {
      // i + c <= j < h  <=>  lo + c <= j < h, lo <= i < j - c + 1; hi is no bound of i.
      require(prove(p, at, less_equal(normalize(minus(g.hi, c)), f.hi)), op, why);
      return {normalize(plus(f.lo, c)), g.hi, f.lo, normalize(plus(minus(j, c), int_const(1)))};
    }
  }
  refuse(op, "the bounds of '" + g.iter.name() + "' depend on '" + f.iter.name() + "'");
}

void swap_loops(Rewrite& rw, const Path& at, const char* op) {
  const Proc& p = *rw.original();
  const For& f = *stmt_at(p, at)->as<For>();
  const For& g = *f.body[0]->as<For>();
  for (const ExprPtr& e : {f.lo, f.hi, g.lo, g.hi}) require_stable(p, body_path(at), 1, e, op);
  Ranges r = interchanged(p, at, f, g, op);
  LoopAnswer commute = loops_interchange(p, at);
  require(commute, op, "iterations of '" + f.iter.name() + "' and '" + g.iter.name() + "' that swap do not commute");
  rw.flags.reassociates |= commute.reassociates;
  rw.swap(at, make_for(g.iter, r.outer_lo, r.outer_hi,
                       {make_for(f.iter, r.inner_lo, r.inner_hi, g.body, f.mode)}, g.mode));
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

// for i: for j: s  ->  for j: for i: s
// Also the exact triangular forms: for i in [lo, hi): for j in [l, i + c)
//   ->  for j in [l, hi - 1 + c): for i in [j - c + 1, hi)        when lo <= l - c + 1
// and for i in [lo, hi): for j in [i + c, h)
//   ->  for j in [lo + c, h): for i in [lo, j - c + 1)            when h - c <= hi.
// Obligation: j's bounds are free of i (or triangular); iterations that swap commute; no bound
// changes in the loops; a `par` loop that comes to stand outside still has no race.
// Forwarding: each loop cursor follows its loop.
ProcPtr reorder_loops(ProcPtr p, const Where& where) {
  static const char op[] = "reorder_loops";
  Cursor c = where.nested(p);
  Rewrite rw(p);
  swap_loops(rw, c.path(), op);
  return rw.finish(op, {place(where, c)});
}

// `scope` is the only statement in the body (or orelse) of the for or if around it:
// for i: for j: s                        ->  reorder_loops
// for i: if e: s else: t                 ->  if e: for i: s else: for i: t
// if e: for i: s                         ->  for i: if e: s
// if e: (if f: s else: t) else: u        ->  if f: (if e: s else: u) else: (if e: t else: u)
// if e: s else: (if f: t else: u)        ->  if f: (if e: s else: t) else: (if e: s else: u)
// Obligation: an `if` and a loop: the condition is free of the iterator and nothing in the loop
// changes it; the if around a loop has no orelse. Two ifs: none (conditions have no effects).
// What is written to configuration stays known.
// Forwarding: cursors follow their statements; of a branch that is now there twice, the copy under
// the body.
ProcPtr lift_scope(ProcPtr p, const Where& where) {
  static const char op[] = "lift_scope";
  Cursor c = where.scope(p);
  const Path inner_path = c.path();
  const Path at = parent_stmt(inner_path);
  if (at.empty()) refuse(op, "there is no loop or if around '" + c.describe() + "'");
  const StmtPtr outer = stmt_at(*p, at), inner = c.stmt();
  const bool in_orelse = inner_path.back().child == Child::kOrelse;
  if (block_at(*p, inner_path).size() != 1)
    refuse(op, "the scope must be the only statement of the one around it", "fission the outer scope first");
  Rewrite rw(p);
  const For *outer_for = outer->as<For>(), *inner_for = inner->as<For>();
  const If *outer_if = outer->as<If>(), *inner_if = inner->as<If>();
  if (outer_for && inner_for) {
    swap_loops(rw, at, op);
  } else if (outer_for) {
    if (mentions(inner_if->cond, outer_for->iter))
      refuse(op, "the condition depends on '" + outer_for->iter.name() + "'");
    require_stable(*p, inner_path, 1, inner_if->cond, op);
    Block orelse;
    if (!inner_if->orelse.empty()) orelse = under(*outer, inner_if->orelse);
    Block body = {make_for(outer_for->iter, outer_for->lo, outer_for->hi, inner_if->body, outer_for->mode)};
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

}  // namespace exotune
