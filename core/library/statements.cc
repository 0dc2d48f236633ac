#include "core/library/statements.h"

#include <algorithm>

#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/staging.h"
#include "core/library/traversal.h"

namespace exotune {
namespace {

struct Occurrence {
  ExprPtr expr;
  Path path;
  int size;
};

int collect(const ExprPtr& e, const Path& path, std::vector<Occurrence>& out) {
  if (!is_data(e->type) || e->as<Const>() || e->as<WindowExpr>()) return 1;
  int size = 1;
  const Read* read = e->as<Read>();
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = path;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    size += read ? 1 : collect(children[k], child, out);
  }
  if (!read || !read->idx.empty()) out.push_back({e, path, size});
  return size;
}

// The occurrences of each expression that has several, the largest expression first.
std::vector<std::vector<Occurrence>> repeated(const Cursor& block) {
  std::vector<Occurrence> all;
  for (int k = 0; k < block.length(); ++k) {
    const Cursor s = block[k];
    if (!s.is<Assign>() && !s.is<Reduce>()) continue;
    const Cursor value = s.rhs();
    collect(value.expr(), value.path(), all);
  }
  std::vector<std::vector<Occurrence>> groups;
  for (const Occurrence& o : all) {
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const auto& g) { return equal(g[0].expr, o.expr); });
    if (same == groups.end())
      groups.push_back({o});
    else
      same->push_back(o);
  }
  std::erase_if(groups, [](const auto& g) { return g.size() < 2; });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a[0].size > b[0].size; });
  return groups;
}

}  // namespace

// Largest first: a subexpression of one that is bound is gone with it.
ProcPtr cse(ProcPtr p, const Where& where, const std::string& name) {
  Cursor block = where.block(p);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& group : repeated(block)) {
      std::vector<Cursor> places;
      for (const Occurrence& o : group) places.push_back(Cursor::expr(p, o.path));
      try {
        ProcPtr q = bind_expr(p, places, name);
        const int grown = static_cast<int>(block_at(*q, block.path()).size()) -
                          static_cast<int>(block_at(*p, block.path()).size());
        block = Cursor::block(q, block.path(), block.length() + grown);
        p = q;
        changed = true;
        break;
      } catch (const SchedulingError&) {
        // Something it reads is written in between.
      }
    }
  }
  return p;
}

ProcPtr jam_stmt(ProcPtr p, const Where& where) {
  const Cursor stmt = where.stmt(p), loop = stmt.next();
  if (!loop.valid() || !loop.is<For>())
    throw SchedulingError("jam_stmt: no loop stands after `" + stmt.describe() + "`");
  const For& f = loop.as<For>();
  ProcPtr wrapped;
  try {
    wrapped = add_loop(p, stmt, f.iter.name(), f.hi, false);
  } catch (const SchedulingError&) {
    wrapped = add_loop(p, stmt, f.iter.name(), f.hi, true);
  }
  return fuse(wrapped, Cursor::stmt(wrapped, stmt.path()), Cursor::stmt(wrapped, loop.path()));
}

BoundAndLifted bind_and_lift(ProcPtr p, const Where& where, const std::string& name,
                             int64_t max_size) {
  const Path at = stmt_part(where.expr(p).path());
  BoundAndLifted out;
  p = bind_expr(p, where, name);
  const Cursor alloc = Cursor::stmt(p, at), load = Cursor::stmt(p, sibling(at, 1));
  out.proc = autolift_alloc(p, alloc, {}, max_size);
  out.alloc = forward(out.proc, alloc);
  out.load = forward(out.proc, load);
  return out;
}

namespace {

// What an iteration of the loop at hand may find changed: iterators, and all that it writes.
std::vector<Sym> changed_in(const StmtPtr& loop) {
  std::vector<Sym> out;
  for_each_stmt({loop}, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>()) out.push_back(f->iter);
    if (const Assign* a = s->as<Assign>()) out.push_back(a->name);
    if (const Reduce* r = s->as<Reduce>()) out.push_back(r->name);
    if (const Alloc* a = s->as<Alloc>()) out.push_back(a->name);
    if (const WindowStmt* w = s->as<WindowStmt>()) out.push_back(w->name);
    const Call* call = s->as<Call>();
    if (!call) return;
    for (const ExprPtr& arg : call->args) {
      if (const WindowExpr* w = arg->as<WindowExpr>()) out.push_back(w->name);
      if (const Read* r = arg->as<Read>()) out.push_back(r->name);
    }
  });
  return out;
}

// The quotients in `e` of something that changes by something that does not, inner ones first.
void add_quotients(const ExprPtr& e, const Path& at, const std::vector<Sym>& changed,
                   std::vector<Path>& out) {
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = at;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    add_quotients(children[k], child, changed, out);
  }
  const auto changes = [&](const ExprPtr& part) {
    return std::any_of(changed.begin(), changed.end(),
                       [&](Sym name) { return mentions(part, name); });
  };
  const BinOp* b = e->as<BinOp>();
  if (b && b->op == BinOpKind::kDiv && is_data(e->type) && is_float(e->type) && changes(b->lhs) &&
      !changes(b->rhs))
    out.push_back(at);
}

}  // namespace

// Divisions by something that does not change in the loop become products with its reciprocal,
// computed once in front: fewer divisions, equal over the reals (the proof's kind says so).
ProcPtr take_reciprocals(ProcPtr p, const Where& where) {
  const Cursor loop = where.loop(p);
  const std::vector<Sym> changed = changed_in(loop.stmt());
  std::vector<Path> quotients;
  for (const Cursor& s : nlr(loop))
    if (s.is<Assign>() || s.is<Reduce>())
      add_quotients(s.rhs().expr(), s.rhs().path(), changed, quotients);
  for (const Path& quotient : quotients)
    p = multiply_by_reciprocal(p, Where(Cursor::expr(p, quotient)));
  return p;
}

namespace {

// In a loop that the element does not move with: what is written is written again.
bool is_written_again(const Cursor& stmt) {
  const Assign& a = stmt.as<Assign>();
  const std::vector<Cursor> loops = enclosing_loops(stmt);
  return std::any_of(loops.begin(), loops.end(), [&](const Cursor& loop) {
    return std::none_of(a.idx.begin(), a.idx.end(),
                        [&](const ExprPtr& e) { return mentions(e, loop.as<For>().iter); });
  });
}

}  // namespace

ProcPtr fold_updates(ProcPtr p) {
  bool any = false;
  for (const Path& path : all_stmt_paths(*p)) {
    const Cursor stmt = at(p, path);
    const Assign* a = stmt_at(*p, path)->as<Assign>();
    if (!a || !mentions(a->rhs, a->name) || !is_written_again(stmt)) continue;
    try {
      p = fold_into_reduce(p, stmt);
      any = true;
    } catch (const SchedulingError&) {
      // The element is read, but not added to.
    }
  }
  if (!any) throw SchedulingError("fold_updates: no assignment adds to its own element");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> statement_chains_operators() {
  using namespace params;
  return {
      {"take_reciprocals",
       {proc(), place("loop")},
       "for i: s(a / b)  ->  for i: s(a * (1.0 / b)), where b stays the same",
       [](const OperatorArgs& a) -> Value { return take_reciprocals(a.proc(), a.where(1)); }},
      {"fold_updates",
       {proc()},
       "x[i] = x[i] + e  ->  x[i] += e   (and fmax, fmin), wherever the element is written again",
       [](const OperatorArgs& a) -> Value { return fold_updates(a.proc()); }},
      {"cse",
       {proc(), place("block"), new_name("name", "shared")},
       "s(e); t(e)  ->  x = e; s(x); t(x)   for all that the block computes twice",
       [](const OperatorArgs& a) -> Value { return cse(a.proc(), a.where(1), a.string(2)); }},
      {"jam_stmt",
       {proc(), place("stmt")},
       "s; for i: t  ->  for i: s; t   (if i == 0: s, where s may not run again)",
       [](const OperatorArgs& a) -> Value { return jam_stmt(a.proc(), a.where(1)); }},
      {"bind_and_lift",
       {proc(), place("expr"), new_name("new_name"), integer("max_size")},
       "for i: s(e)  ->  x : T[c]; for i: x[i] = e; s(x[i])   returns p and cursors load, alloc",
       [](const OperatorArgs& a) -> Value {
         BoundAndLifted b = bind_and_lift(a.proc(), a.where(1), a.string(2), a.integer(3));
         return ValueList{b.proc, b.load, b.alloc};
       }},
  };
}

}  // namespace exotune
