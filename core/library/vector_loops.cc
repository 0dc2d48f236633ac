#include "core/library/vector_loops.h"

#include <algorithm>

#include "core/library/attempted.h"
#include "core/library/blocking.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/reduction.h"
#include "core/library/sinking.h"

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

namespace {

// The rows whose lanes the instruction adds up, one after the other; 0: it does not.
// `for i: for j: d[i] += s[i, j]`
int64_t rows_added_up(const Proc& instr, int lanes) {
  const For* rows = instr.body.size() == 1 ? instr.body[0]->as<For>() : nullptr;
  const For* lane = rows && rows->body.size() == 1 ? rows->body[0]->as<For>() : nullptr;
  const Reduce* sum = lane && lane->body.size() == 1 ? lane->body[0]->as<Reduce>() : nullptr;
  const Read* r = sum ? sum->rhs->as<Read>() : nullptr;
  if (!r || r->idx.size() != 2 || sum->idx.size() != 1 || mentions(sum->idx[0], lane->iter))
    return 0;
  return literal_extent(*lane) == lanes ? literal_extent(*rows).value_or(0) : 0;
}

// As many rows of the loop at `rows` as the instruction takes, again and again; nothing where it
// does not fit. What is left stands behind.
std::optional<ProcPtr> added_up_by(ProcPtr p, const Path& rows, const ProcPtr& instr,
                                   int64_t count) {
  try {
    const std::string name = find_loop(p, rows)->iter.name();
    p = divide_loop(p, at(p, rows), count, {name + "o", name}, Tail::kCut);
    p = simplify(p, at(p, rows));
    return replace(p, at(p, child(rows)), instr);
  } catch (const SchedulingError&) {
    return std::nullopt;
  }
}

}  // namespace

bool adds_up_to_vectors(const VectorUnit& unit, int64_t rows) {
  return std::any_of(unit.instrs.begin(), unit.instrs.end(), [&](const ProcPtr& instr) {
    const int64_t taken = rows_added_up(*instr, unit.lanes);
    return taken > 0 && taken <= rows && taken % unit.lanes == 0;
  });
}

ProcPtr add_up_lanes(ProcPtr p, const Path& rows, const VectorUnit& unit) {
  const For* loop = find_loop(p, rows);
  const For* lane = loop && loop->body.size() == 1 ? loop->body[0]->as<For>() : nullptr;
  const int64_t count = lane ? literal_extent(*loop).value_or(0) : 0;
  for (const ProcPtr& instr : unit.instrs) {
    const int64_t taken = rows_added_up(*instr, unit.lanes);
    if (taken < 1 || taken > count) continue;
    const std::string name = loop->iter.name();
    const std::optional<ProcPtr> done = added_up_by(p, rows, instr, taken);
    if (!done) continue;
    const Path rest = count % taken == 0 ? Path() : boundary_after(*done, rows, name);
    return rest.empty() ? *done : add_up_lanes(*done, rest, unit);
  }
  return vectorize_lanes(p, at(p, innermost(p, rows)), unit);
}

// A scalar of each row gets a dimension, so that the statements of the block can be taken apart.
ProcPtr separate_rows(ProcPtr p, Path& rows, int64_t count) {
  const Sym row = find_loop(p, rows)->iter;
  for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, rows)).size()); ++k) {
    if (!stmt_at(*p, child(rows, k))->as<Alloc>()) continue;
    p = expand_dim(p, at(p, child(rows, k)), int_const(count), read_var(row, ScalarType::kIndex));
    p = lift_alloc(p, at(p, child(rows, k)), 1);
    rows = sibling(rows, 1);
    --k;
  }
  return fission_as_much_as_possible(p, at(p, rows));
}

ProcPtr finish_sums(ProcPtr p, const Path& top, const VectorUnit& unit) {
  p = parallelize_reduction(p, at(p, top), accumulator_of(p, top), unit.memory);
  p = add_up_lanes(p, sibling(top, 3), unit);
  for (int k = 2; k >= 1; --k)  // alloc, zero, main, add: last first
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

namespace {

// Lane loops over `lane` become instructions, and what does not change with the other loops leaves
// them, in the scope at `path` and in all inside it.
ProcPtr finish_scopes(ProcPtr p, const Path& path, const std::string& lane,
                      const VectorUnit& unit) {
  const StmtPtr s = stmt_at(*p, path);
  const For* loop = s->as<For>();
  if (loop && loop->iter.name() == lane) return vectorize_lanes(p, at(p, path), unit);
  // The last one first: what a statement becomes leaves those before it where they are.
  for (const auto& [branch, block] :
       {std::pair{Child::kOrelse, &orelse_of(*s)}, std::pair{Child::kBody, &body_of(*s)}})
    for (int k = static_cast<int>(block->size()) - 1; k >= 0; --k) {
      if (!(*block)[static_cast<size_t>(k)]->as<For>() &&
          !(*block)[static_cast<size_t>(k)]->as<If>())
        continue;
      Path next = path;
      next.push_back({branch, k});
      p = finish_scopes(p, next, lane, unit);
    }
  return loop ? hoist_from_loop(p, at(p, path)) : p;
}

}  // namespace

ProcPtr finish_around_loops(ProcPtr p, const Path& top, const std::vector<Path>& inner,
                            const VectorUnit& unit) {
  const std::string lane = find_loop(p, inner.back())->iter.name();
  p = sink_lanes(p, at(p, inner.back()), unit.memory);
  if (inner.size() > 1) p = sink_copies(p, at(p, inner.front()), lane);
  return finish_scopes(p, top, lane, unit);
}

ProcPtr whole_and_rest(ProcPtr p, const Path& top, int64_t lanes,
                       const std::function<ProcPtr(const ProcPtr&)>& guarded) {
  if (attempted(p, guarded)) return p;
  const For& f = *find_loop(p, top);
  const std::optional<int64_t> extent = literal_extent(f);
  if (!extent || *extent < lanes || *extent % lanes == 0) return guarded(p);
  return guarded(cut_loop(p, at(p, top), f.lo + int_const(*extent / lanes * lanes)));
}

ProcPtr unroll_named(ProcPtr p, const std::string& name) {
  std::vector<Cursor> loops = loops_named(p, name);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c)
    if (literal_extent(c->as<For>())) p = unroll_loop(p, at(p, c->path()));
  return p;
}

}  // namespace exotune
