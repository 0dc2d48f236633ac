// Loops and ifs split in two and put together again.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {

// Splits the scope around `gap` there; the gap after it lies between the two scopes.
Path split_scope(Rewrite& rw, const Path& gap, const char* op) {
  const Path at = parent_stmt(gap);
  if (at.empty()) refuse(op, "there is no loop or if around the gap");
  const StmtPtr scope = stmt_at(rw.proc(), at);
  const bool in_orelse = gap.back().child == Child::kOrelse;
  const int before = gap.back().index, total = static_cast<int>(block_at(rw.proc(), gap).size());
  const int after = total - before;
  if (before == 0 || after == 0) refuse(op, "there must be statements on both sides of the gap");
  const Path start = sibling(gap, -before);
  require_no_escape(rw.proc(), start, before, op);

  std::function<StmtPtr(Block)> wrapper;
  if (const For* f = scope->as<For>()) {
    LoopAnswer a = can_fission(rw.proc(), gap);
    require(a, op,
            "the statements after the gap, in an iteration, do not commute with those before it, "
            "in a later one");
    for (const ExprPtr& e : {f->lo, f->hi}) require_stable(rw.proc(), body_path(at), total, e, op);
    rw.flags.reassociates |= a.reassociates;
    const Sym iter = f->iter.copy();
    wrapper = [f, iter](Block b) {
      return make_for(iter, f->lo, f->hi, rename(b, f->iter, iter), f->mode);
    };
  } else {
    const If& i = *scope->as<If>();
    require_stable(rw.proc(), start, before, i.cond, op);
    if (!in_orelse && !i.orelse.empty())
      require_stable(rw.proc(), child_path(at, Child::kOrelse), static_cast<int>(i.orelse.size()),
                     i.cond, op);
    if (in_orelse)
      require_stable(rw.proc(), body_path(at), static_cast<int>(i.body.size()), i.cond, op);
    wrapper = [&i, in_orelse](Block b) {
      return in_orelse ? make_if(i.cond, {make_pass()}, std::move(b))
                       : make_if(i.cond, std::move(b));
    };
  }
  rw.wrap(gap, after, wrapper, in_orelse);
  rw.move(gap, 1, sibling(at, 1));
  require_still_checks(rw.proc(), {scope}, op);
  return sibling(at, 1);
}

}  // namespace

ProcPtr fission(ProcPtr p, const Cursor& gap, int n_lifts) {
  static const char op[] = "fission";
  Cursor c = here(p, gap);
  if (c.kind() != CursorKind::kGap)
    throw InvalidCursorError("fission: expected a gap between two statements");
  if (n_lifts < 1) refuse(op, "n_lifts must be at least 1");
  Rewrite rw(p);
  Path at = c.path();
  for (int k = 0; k < n_lifts; ++k) at = split_scope(rw, at, op);
  return rw.finish(op, {Value(c), n_lifts});
}

ProcPtr fuse(ProcPtr p, const Where& first, const Where& second) {
  static const char op[] = "fuse";
  Cursor c = first.scope(p), d = second.scope(p);
  const Path at = c.path(), next = sibling(at, 1);
  if (d.path() != next) refuse(op, "the second scope must stand right after the first");
  Rewrite rw(p);
  auto absorb = [&](Child branch, size_t have, size_t more) {
    if (more == 0) return;
    const Path from = child_path(next, branch), to = child_path(at, branch, static_cast<int>(have));
    rw.move(from, static_cast<int>(more), to);
  };
  if (c.is<For>() && d.is<For>()) {
    const For &f = c.as<For>(), &g = d.as<For>();
    for (const ExprPtr& e : {f.lo, f.hi, g.lo, g.hi})
      require_stable(*p, body_path(at), static_cast<int>(f.body.size()), e, op);
    for (const ExprPtr& e : {f.lo, f.hi})
      require_stable(*p, body_path(next), static_cast<int>(g.body.size()), e, op);
    require(prove_equal(*p, at, f.lo, g.lo), op, "cannot prove that the lower bounds are equal");
    require(prove_equal(*p, at, f.hi, g.hi), op, "cannot prove that the upper bounds are equal");
    const LoopAnswer a = can_fuse(*p, at);
    rw.flags.reassociates |= a.reassociates;
    const bool par = f.mode == LoopMode::kPar && g.mode == LoopMode::kPar;
    rw.replace_keep(next,
                    make_for(f.iter, g.lo, g.hi,
                             substitute(g.body, g.iter, read_var(f.iter, ScalarType::kIndex))));
    absorb(Child::kBody, f.body.size(), g.body.size());
    rw.erase(next, 1);
    if (!a && !can_fuse_recomputing(*p, at, rw.proc()))
      require(a, op,
              "an iteration of the second loop does not commute with a later one of the first");
    const For& fused = *stmt_at(rw.proc(), at)->as<For>();
    if (f.mode == LoopMode::kPar && !(par && loop_parallel(rw.proc(), at)))
      rw.replace_keep(at, make_for(fused.iter, fused.lo, fused.hi, fused.body));
  } else if (c.is<If>() && d.is<If>()) {
    const If &f = c.as<If>(), &g = d.as<If>();
    require_stable(*p, at, 1, g.cond, op);
    require(equal_in_context(*p, at, f.cond, g.cond), op,
            "cannot prove that the conditions are equal");
    const size_t body = f.body.size(), orelse = f.orelse.size(), more = g.orelse.size();
    absorb(Child::kBody, body, g.body.size());
    if (more > 0 && orelse == 0) {
      // There is no orelse to move into yet: it begins as a pass that goes again.
      const If& now = *stmt_at(rw.proc(), at)->as<If>();
      rw.replace_keep(at, make_if(now.cond, now.body, {make_pass()}));
      absorb(Child::kOrelse, 0, more);
      rw.erase(child_path(at, Child::kOrelse, static_cast<int>(more)), 1);
    } else {
      absorb(Child::kOrelse, orelse, more);
    }
    rw.erase(next, 1);
  } else {
    refuse(op, "a loop and an if do not fuse");
  }
  require_still_checks(rw.proc(), {c.stmt(), d.stmt()}, op);
  return rw.finish(op, {place(first, c), place(second, d)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> loops_fission_operators() {
  using namespace params;
  return {
      {"fission",
       {proc(), place("gap"), integer("n_lifts", 1)},
       "for i: s1; s2  ->  for i: s1; for i: s2",
       [](const OperatorArgs& a) -> Value {
         return fission(a.proc(), a.where(1).gap(a.proc()), a.small(2));
       }},
      {"fuse",
       {proc(), place("scope1"), place("scope2")},
       "for i: s1; for j: s2  ->  for i: s1; s2[j -> i]   (ifs of equal condition too)",
       [](const OperatorArgs& a) -> Value { return fuse(a.proc(), a.where(1), a.where(2)); }},
  };
}

}  // namespace exotune
