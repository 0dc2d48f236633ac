#include "core/library/rearranging.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/replacement.h"

namespace exotune {
// Moving statements and loops to where other operators can use them, by the primitives that prove
// it.

namespace {

// The loop or if right around the statement holds nothing but it, by splitting; false: refused.
bool alone(ProcPtr& p, const Cursor& stmt) {
  const Path path = forward(p, stmt).path();
  const int k = path.back().index;
  try {
    if (k + 1 < size_of_block(p, path)) p = fission(p, at(p, path).after(), 1);
    if (k > 0) p = fission(p, at(p, path).before(), 1);
  } catch (const SchedulingError&) {
    return false;
  }
  return true;
}

}  // namespace

ProcPtr isolate(ProcPtr p, const Where& where) {
  const Cursor stmt = where.stmt(p);
  for (int levels = 0;; ++levels) {  // from the statement outwards, each scope around it in turn
    Path path = forward(p, stmt).path();
    for (int k = 0; k < levels; ++k) path = parent_stmt(path);
    if (path.size() <= 1 || !alone(p, at(p, path))) return p;
  }
}

namespace {

void fuse_below(ProcPtr& p, const Path& first) {
  for (int k = 0; k < size_of_block(p, first); ++k) {
    const Path path = sibling(first, k - first.back().index);
    while (k + 1 < size_of_block(p, path)) {
      const Cursor a = at(p, path), b = at(p, sibling(path, 1));
      if (!a.is<For>() || !b.is<For>()) break;
      try {
        p = fuse(p, a, b);
      } catch (const SchedulingError&) {
        break;
      }
    }
    const StmtPtr s = stmt_at(*p, path);
    if (!body_of(*s).empty()) fuse_below(p, child(path));
    if (!orelse_of(*s).empty()) {
      Path orelse = path;
      orelse.push_back({Child::kOrelse, 0});
      fuse_below(p, orelse);
    }
  }
}

}  // namespace

ProcPtr fuse_all_loops(ProcPtr p, const Where& scope) {
  Path first = scope.stmt(p).path();
  first.back().index = 0;
  fuse_below(p, first);
  return p;
}

namespace {

Cursor ancestor(Cursor c, int levels) {
  for (; levels > 0; --levels) c = c.parent();
  return c;
}

// The statement goes to the front of its block, and out of the scope around it: what only fills
// what others read may leave them behind, which it may not together with what stood before it.
ProcPtr leave_scope(ProcPtr p, const Cursor& stmt, int levels) {
  const auto now = [&] { return ancestor(forward(p, stmt), levels); };
  while (now().path().back().index > 0) p = reorder_stmts(p, now().expand(1, 0));
  if (size_of_block(p, now().path()) > 1) p = fission(p, now().after(), 1);
  return p;
}

// The statement in the block of `top` that holds `inner` (or is it); invalid: none after `top`.
Cursor holder_of(const Cursor& top, Cursor inner) {
  const Path block = parent_stmt(top.path());
  while (inner.valid() && inner.path().size() > top.path().size()) inner = inner.parent();
  if (!inner.valid() || inner.path().size() != top.path().size()) return {};
  if (parent_stmt(inner.path()) != block || inner.path().back().index < top.path().back().index)
    return {};
  return inner;
}

// `stmt`, below `levels` scopes of its own, goes back to just in front of `next`, loop by loop, as
// far as that is allowed.
ProcPtr sink_to(ProcPtr p, const Cursor& stmt, int levels, const Cursor& next) {
  while (true) {
    Cursor top = ancestor(forward(p, stmt), levels);
    Cursor holder = holder_of(top, forward(p, next));
    if (!holder.valid()) return p;
    try {
      for (; top.path().back().index + 1 < holder.path().back().index;
           top = ancestor(forward(p, stmt), levels))
        p = reorder_stmts(p, top.expand(0, 1));
      holder = holder_of(top, forward(p, next));
      if (holder.path() == forward(p, next).path() || levels == 0 || !holder.is<For>()) return p;
      int below = levels;  // of the outermost loop around the statement
      while (below > 0 && !ancestor(forward(p, stmt), below).is<For>()) --below;
      if (below == 0) return p;
      ProcPtr moved = p;
      for (; below < levels; ++below)
        moved = lift_scope(moved, ancestor(forward(moved, stmt), below));
      top = ancestor(forward(moved, stmt), levels);
      p = fuse(moved, top, at(moved, sibling(top.path(), 1)));
      --levels;
    } catch (const SchedulingError&) {
      return p;
    }
  }
}

}  // namespace

// For what only the first iterations must do: the statement leaves the loops that it does not
// mention, under a guard of their first iteration, so that it runs as often as it must.
ProcPtr add_guard(ProcPtr p, const Where& where) {
  const Cursor stmt = where.stmt(p);
  int levels = 0;  // scopes inside the loop in question
  Cursor loop = stmt.parent();
  std::vector<ExprPtr> conditions;  // that it already runs under
  const auto concerns = [&](Sym iter) {
    return mentions(stmt.stmt(), iter) ||
           std::any_of(conditions.begin(), conditions.end(),
                       [&](const ExprPtr& e) { return mentions(e, iter); });
  };
  while (loop.valid() && (!loop.is<For>() || concerns(loop.as<For>().iter))) {
    if (loop.is<If>()) conditions.push_back(loop.as<If>().cond);
    loop = loop.parent();
    ++levels;
  }
  if (!loop.valid())
    throw SchedulingError("add_guard: every loop around `" + stmt.describe() + "` concerns it");
  const std::string name = loop.as<For>().iter.name();
  const ExprPtr trips = normalize(loop.as<For>().hi - loop.as<For>().lo);
  Cursor place = stmt;  // with the conditions that only it runs under
  const auto last = [&] { return place.path().back().index + 1 == size_of_block(p, place.path()); };
  while (last() && place.parent().valid() && place.parent().is<If>()) place = place.parent();
  const Cursor next = last() ? Cursor() : place.next();
  const bool shared = size_of_block(p, ancestor(stmt, levels).path()) > 1 || levels > 0;
  try {
    for (int k = 0; k <= levels; ++k) p = leave_scope(p, stmt, k);
  } catch (const SchedulingError&) {
    throw SchedulingError("add_guard: `" + stmt.describe() + "` does not leave the loop over `" +
                          name + "`");
  }
  p = remove_loop(p, ancestor(forward(p, stmt), levels + 1));
  p = add_loop(p, ancestor(forward(p, stmt), levels), name, trips, /*guard=*/true);
  if (!shared || !next.valid()) return p;
  // The loop around the guard, and what is left of the one it came out of.
  const Cursor guarded = ancestor(forward(p, stmt), levels + 2);
  try {
    p = fuse(p, guarded, guarded.next());
  } catch (const SchedulingError&) {
    return p;
  } catch (const InvalidCursorError&) {  // nothing is left of it
    return p;
  }
  return sink_to(p, stmt, levels + 1, next);
}

namespace {

// The indices that say the order: of an expression, or of the target of an assignment.
std::vector<ExprPtr> indices_of(const Cursor& c) {
  if (c.kind() == CursorKind::kExpr) {
    const Read* r = c.expr()->as<Read>();
    if (!r) throw InvalidCursorError("`" + c.describe() + "` is no access to a buffer");
    return r->idx;
  }
  if (c.is<Assign>()) return c.as<Assign>().idx;
  if (c.is<Reduce>()) return c.as<Reduce>().idx;
  throw InvalidCursorError("`" + c.describe() + "` is no assignment");
}

// The place of the first index that mentions the iterator; loops that none mentions stay outside.
int place_of(const std::vector<ExprPtr>& idx, Sym iter) {
  for (size_t k = 0; k < idx.size(); ++k)
    if (mentions(idx[k], iter)) return static_cast<int>(k);
  return -1;
}

}  // namespace

// A bubble sort by exchanges of neighbours: each is proved, and the first refusal ends it.
ProcPtr reorder_loops_from_idx(ProcPtr p, const Where& where) {
  const Value given = where.value();
  const Cursor* cursor = given.as<Cursor>();
  Cursor access = cursor ? forward(p, *cursor) : find(p, *given.as<std::string>());
  if (access.kind() == CursorKind::kBlock && access.length() == 1) access = access[0];
  const std::vector<ExprPtr> idx = indices_of(access);
  // The loops that hold nothing but the next, from the statement outwards.
  Path top = stmt_part(access.path());
  int depth = 0;
  while (top.size() > 1 && size_of_block(p, top) == 1 && stmt_at(*p, parent_stmt(top))->as<For>()) {
    top = parent_stmt(top);
    ++depth;
  }
  for (int sorted = 0; sorted < depth; ++sorted) {
    Path path = top;
    for (int k = 0; k + 1 < depth - sorted; ++k, path = child(path)) {
      const Sym outer = at(p, path).as<For>().iter, inner = at(p, child(path)).as<For>().iter;
      if (place_of(idx, inner) < place_of(idx, outer)) p = reorder_loops(p, at(p, path));
    }
  }
  return p;
}

ProcPtr unroll_loops(ProcPtr p, const Where& where, int64_t most) {
  const Cursor block = where.block(p);
  // Innermost and last first: unrolling a loop moves only what comes after it.
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    bool inside = false;
    for (int k = 0; k < block.length(); ++k)
      inside = inside || is_prefix(sibling(block.path(), k), *path);
    const StmtPtr s = stmt_at(*p, *path);
    if (!inside || !s || !s->as<For>()) continue;
    const std::optional<int64_t> extent = literal_extent(*s->as<For>());
    if (extent && as_int(s->as<For>()->lo) && (most == 0 || *extent <= most))
      p = unroll_loop(p, at(p, *path));
  }
  return p;
}

ProcPtr replace_and_inline(ProcPtr p, const ProcPtr& callee) {
  p = replace_all(p, {callee});
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const StmtPtr s = stmt_at(*p, *path);
    if (s && s->as<Call>() && s->as<Call>()->callee == callee) p = inline_call(p, at(p, *path));
  }
  return p;
}

Cursor get_inner_loop(const ProcPtr& p, const Where& outer) {
  const Cursor loop = outer.loop(p);
  for (const Path& path : all_stmt_paths(*p))
    if (path.size() > loop.path().size() && is_prefix(loop.path(), path) && at(p, path).is<For>())
      return at(p, path);
  throw InvalidCursorError("no loop stands inside `" + loop.describe() + "`");
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> rearranging_operators() {
  using namespace params;
  return {
      {"isolate",
       {proc(), place("stmt")},
       "for i: s1; s; s2  ->  for i: s1; for i: s; for i: s2   (through all loops around)",
       [](const OperatorArgs& a) -> Value { return isolate(a.proc(), a.where(1)); }},
      {"fuse_all_loops",
       {proc(), place("scope")},
       "for i: s1; for i: s2  ->  for i: s1; s2   (neighbours of equal bounds, outer loops first)",
       [](const OperatorArgs& a) -> Value { return fuse_all_loops(a.proc(), a.where(1)); }},
      {"add_guard",
       {proc(), place("stmt")},
       "for i: s  ->  for i: if i == 0: s   (the nearest loop that does not concern s)",
       [](const OperatorArgs& a) -> Value { return add_guard(a.proc(), a.where(1)); }},
      {"reorder_loops_from_idx",
       {proc(), place("access")},
       "for j: for i: x[i, j] = e  ->  for i: for j: x[i, j] = e",
       [](const OperatorArgs& a) -> Value { return reorder_loops_from_idx(a.proc(), a.where(1)); }},
      {"unroll_loops",
       {proc(), place("block", Value()), integer("threshold", 0)},
       "for i in seq(0, 2): s  ->  s[i -> 0]; s[i -> 1]   every loop of at most threshold "
       "iterations "
       "(0: any number)",
       [](const OperatorArgs& a) -> Value {
         return unroll_loops(a.proc(), a.given(1) ? a.where(1) : Where(body_of(a.proc())),
                             a.integer(2));
       }},
      {"replace_and_inline",
       {proc(), procs("instr_and_setting")},
       "s  ->  config_f(...); f(...)   (f and a procedure that sets and calls it)",
       [](const OperatorArgs& a) -> Value {
         return replace_and_inline(a.proc(), a.procs(1).back());
       }},
      {"get_inner_loop",
       {proc(), place("outer_loop")},
       "returns the first loop inside the loop, as a cursor",
       [](const OperatorArgs& a) -> Value { return get_inner_loop(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
