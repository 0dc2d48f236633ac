#include "core/library/vector_loops.h"

#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/reduction.h"

namespace exotune {

const For* find_loop(const ProcPtr& p, const Path& path) {
  StmtPtr s = stmt_at(*p, path);
  return s ? s->as<For>() : nullptr;
}

Path boundary_after(const ProcPtr& p, const Path& path, const std::string& name) {
  Path next = sibling(path, 1);
  StmtPtr s = stmt_at(*p, next);
  if (s && s->as<If>()) next = child(next);
  const For* f = s ? find_loop(p, next) : nullptr;
  return f && f->iter.name() == name ? next : Path();
}

bool is_reduction(const ProcPtr& p, const Path& path, Sym iter) {
  StmtPtr s = stmt_at(*p, path);
  while (body_of(*s).size() == 1) s = body_of(*s)[0];
  const Reduce* r = s->as<Reduce>();
  if (!r) return false;
  for (const ExprPtr& e : r->idx)
    if (mentions(e, iter)) return false;
  return true;
}

ProcPtr finish_sums(ProcPtr p, const Path& top, const VectorUnit& unit) {
  StmtPtr s = stmt_at(*p, top);
  while (body_of(*s).size() == 1) s = body_of(*s)[0];
  p = parallelize_reduction(p, at(p, top), s->as<Reduce>()->name.name() + "_acc", unit.memory);
  for (int k = 3; k >= 1; --k)  // alloc, zero, main, add: last first
    p = vectorize_lanes(p, at(p, innermost(p, sibling(top, k))), unit);
  return p;
}

ProcPtr finish_elements(ProcPtr p, const Path& top, const VectorUnit& unit) {
  p = vectorize_lanes(p, at(p, innermost(p, top)), unit);
  // Broadcasts out of the loops, innermost first.
  Path path = top;
  while (find_loop(p, child(path)) && body_of(*stmt_at(*p, path)).size() == 1) path = child(path);
  for (;;) {
    Cursor loop = at(p, path);
    p = hoist_from_loop(p, loop);
    if (path.size() == top.size()) break;
    path = parent_stmt(path);
  }
  return p;
}

ProcPtr unroll_named(ProcPtr p, const std::string& name) {
  std::vector<Cursor> loops = loops_named(p, name);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    if (literal_extent(c->as<For>())) p = unroll_loop(p, at(p, c->path()));
  return p;
}

}  // namespace exotune
