#include "core/library/triangles.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/staging.h"
#include "core/library/tiles.h"

namespace exotune {

namespace {

// A pair of loops of which the inner one's bounds follow the outer one's iterator.
struct Corner {
  Path top;         // the outer loop
  bool upper;       // the upper bound follows; else the lower one
  ExprPtr from;     // where the square begins along the inner loop
  int64_t columns;  // and how far it goes
};

// The loop over `inner` in the band of loops at `top`: how many levels below; nothing: there is
// none.
std::optional<int> level_of(const Proc& p, Path top, const std::string& inner) {
  for (int level = 0;; ++level) {
    const For* f = stmt_at(p, top)->as<For>();
    if (level > 0 && f->iter.name() == inner) return level;
    if (f->body.size() != 1 || !f->body.front()->as<For>()) return std::nullopt;
    top = child(top);
  }
}

std::optional<Corner> corner_of(const Proc& p, const Path& top, int level) {
  const For& i = *stmt_at(p, top)->as<For>();
  Path path = top;
  for (int k = 0; k < level; ++k) path = child(path);
  const For& j = *stmt_at(p, path)->as<For>();
  const auto first = as_int(i.lo), end = as_int(i.hi);
  if (!first || !end || *end <= *first) return std::nullopt;
  const bool upper = mentions(j.hi, i.iter);
  if (upper == mentions(j.lo, i.iter)) return std::nullopt;
  const ExprPtr lo = upper ? j.lo : substitute(j.lo, i.iter, int_const(*first));
  const ExprPtr hi = upper ? substitute(j.hi, i.iter, int_const(*end - 1)) : j.hi;
  const auto columns = as_int(normalize(hi - lo));
  if (!columns || *columns <= 0) return std::nullopt;
  return Corner{top, upper, normalize(lo), *columns};
}

// The one array that the statements write.
std::string written_by(const Block& body) {
  std::vector<Sym> names;
  for_each_stmt(body, [&](const StmtPtr& s) {
    if (const Assign* a = s->as<Assign>()) names.push_back(a->name);
    if (const Reduce* r = s->as<Reduce>()) names.push_back(r->name);
    if (s->as<Call>() || s->as<Alloc>() || s->as<WindowStmt>())
      throw SchedulingError("square_corner: the loops are around more than one sum");
  });
  if (names.empty() ||
      std::any_of(names.begin(), names.end(), [&](Sym name) { return name != names.front(); }))
    throw SchedulingError("square_corner: the loops are around more than one sum");
  return names.front().name();
}

// The statement of the block that adds up: a nest of loops, or the sum itself.
int place_of_sum(const Block& body) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k)
    if (body[k]->as<For>() || body[k]->as<Reduce>()) return k;
  throw SchedulingError("square_corner: the loops are around no sum");
}

// The loops at `path` over the whole square, the inner one from 0.
ProcPtr over_square(ProcPtr p, const Path& path, const Corner& c, int64_t rows_end) {
  if (c.upper) {
    p = extend_loop(p, at(p, child(path)), c.from + int_const(c.columns));
  } else {
    p = reorder_loops(p, at(p, path));
    p = extend_loop(p, at(p, child(path)), int_const(rows_end));
    p = reorder_loops(p, at(p, path));
  }
  p = shift_loop(p, at(p, child(path)), int_const(0));
  return simplify(p, at(p, path));
}

void add_reads(const ExprPtr& e, const Path& path, std::vector<Path>& out) {
  if (e->as<Read>() && is_data(e->type) && !e->as<Read>()->idx.empty()) {
    out.push_back(path);
    return;
  }
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = path;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    add_reads(children[k], child, out);
  }
}

// Of an array that the sum reads in two ways, the read that stays along the inner loop: register
// tiles want operands apart. `sum` is the innermost statement.
std::optional<Path> read_to_copy(const ProcPtr& p, const Path& sum, Sym inner) {
  const Cursor value = at(p, sum).rhs();
  std::vector<Path> reads;
  add_reads(value.expr(), value.path(), reads);
  const auto same = [&](const Path& a, const Path& b) {
    const ExprPtr x = Cursor::expr(p, a).expr(), y = Cursor::expr(p, b).expr();
    return x->as<Read>()->name == y->as<Read>()->name && !equal(x, y);
  };
  for (const Path& r : reads)
    if (!mentions(Cursor::expr(p, r).expr(), inner) &&
        std::any_of(reads.begin(), reads.end(), [&](const Path& o) { return same(r, o); }))
      return r;
  return std::nullopt;
}

// for i: for j: for k: t[i, j] += A[k, i] * A[k, j]
//   ->  A_own : R[K, I] ; for i: for k: A_own[k, i] = A[k, i] ; for i: ..: t[i, j] += A_own[k, i] *
//   ..
ProcPtr copy_operand(ProcPtr p, const Path& nest) {
  std::vector<Path> loops = {nest};
  while (at(p, child(loops.back())).is<For>()) loops.push_back(child(loops.back()));
  const Path sum = child(loops.back());
  if (!at(p, sum).is<Reduce>()) return p;
  const auto read = read_to_copy(p, sum, loop_at(p, child(nest)).iter);
  if (!read) return p;
  const ExprPtr value = Cursor::expr(p, *read).expr();
  const int depth = static_cast<int>(loops.size());
  p = bind_expr(p, Where(Cursor::expr(p, *read)), value->as<Read>()->name.name() + "_own");
  for (const Path& path : loops) {
    const For& f = loop_at(p, path);
    if (mentions(value, f.iter))
      p = expand_dim(p, at(p, sum), normalize(f.hi - f.lo),
                     normalize(read_var(f.iter, ScalarType::kIndex) - f.lo));
  }
  p = lift_alloc(p, at(p, sum), depth);
  const size_t place = nest.size() - 1;  // the nest stands behind the allocation now
  for (Path& path : loops) ++path[place].index;
  p = fission(p, Cursor::gap(p, child(loops.back(), 1)), depth);
  for (auto path = loops.rbegin(); path != loops.rend(); ++path)
    if (!mentions(value, loop_at(p, *path).iter)) p = remove_loop(p, at(p, *path));
  // The copy's first dimension is that of the innermost loop: its loops the other way round.
  std::vector<Path> copy = {loops.front()};
  while (at(p, child(copy.back())).is<For>()) copy.push_back(child(copy.back()));
  for (size_t left = copy.size() - 1; left > 0; --left)
    for (size_t k = 0; k < left; ++k) p = reorder_loops(p, at(p, copy[k]));
  return p;
}

ProcPtr square_one(ProcPtr p, Corner c, int level, bool apart) {
  // The inner loop directly below the outer one.
  for (int k = level - 1; k >= 1; --k) {
    Path between = c.top;
    for (int n = 0; n < k; ++n) between = child(between);
    p = reorder_loops(p, at(p, between));
  }
  const Path inner = child(c.top), first = child(inner);
  const int length = size_of_block(p, first);
  const std::string array = written_by(block_at(*p, first));
  p = auto_stage_mem(p, Cursor::block(p, first, length), array, array + "_square").proc;
  if (!at(p, first).is<Alloc>() || at(p, first).as<Alloc>().type.is_tensor())
    throw SchedulingError("square_corner: the loops are around sums of more than one element");
  const For &i = loop_at(p, c.top), &j = loop_at(p, inner);
  const int64_t begin = *as_int(i.lo), end = *as_int(i.hi);
  const ExprPtr row = read_var(i.iter, ScalarType::kIndex),
                column = read_var(j.iter, ScalarType::kIndex);
  p = expand_dim(p, at(p, first), int_const(c.columns), normalize(column - c.from));
  p = expand_dim(p, at(p, first), int_const(end - begin), normalize(row - int_const(begin)));
  p = lift_alloc(p, at(p, first), 2);

  const Path nest = sibling(c.top, 1), body = child(child(nest));
  const int sum = place_of_sum(block_at(*p, body));
  const bool begins = sum > 0, ends = sum + 1 < size_of_block(p, body);
  if (ends) p = fission(p, Cursor::gap(p, sibling(body, sum + 1)), 2);
  if (begins) p = fission(p, Cursor::gap(p, sibling(body, sum)), 2);
  p = over_square(p, nest, c, end);
  const Path sums = begins ? sibling(nest, 1) : nest;
  if (begins) p = over_square(p, sums, c, end);
  return apart ? copy_operand(p, sums) : p;
}

// Two statements of one shape: where their expressions differ, those of the second are written as
// the first has them, with the loops of the second in their place.
class Likeness {
 public:
  Likeness(ProcPtr p, Sym first, Sym second) : p_(std::move(p)), renames_{{first, second}} {}

  void make(const Path& first, const Path& second) {
    const StmtPtr a = stmt_at(*p_, first), b = stmt_at(*p_, second);
    const std::vector<ExprPtr> wanted = stmt_exprs(*a), found = stmt_exprs(*b);
    const size_t n = body_of(*a).size();
    if (a->node.index() != b->node.index() || wanted.size() != found.size() ||
        body_of(*b).size() != n)
      throw SchedulingError("join_diagonal: the diagonal is not what the triangle is beside it");
    for (size_t k = 0; k < wanted.size(); ++k) {
      ExprPtr want = wanted[k];
      for (const auto& [from, to] : renames_)
        want = substitute(want, from, read_var(to, ScalarType::kIndex));
      if (!equal(want, found[k]))
        p_ = rewrite_expr(p_, at(p_, second).child_expr(static_cast<int>(k)), want);
    }
    if (a->as<For>()) renames_.emplace_back(a->as<For>()->iter, b->as<For>()->iter);
    for (int k = 0; k < static_cast<int>(n); ++k) make(child(first, k), child(second, k));
  }
  ProcPtr proc() const { return p_; }

 private:
  ProcPtr p_;
  std::vector<std::pair<Sym, Sym>> renames_;  // loops of the first, and of the second
};

}  // namespace

ProcPtr join_diagonal(ProcPtr p, const Where& where) {
  const Path path = where.loop(p).path(), next = sibling(path, 1), first = child(path),
             second = child(path, 1);
  if (path.back().index + 1 >= size_of_block(p, path) || !at(p, next).is<For>() ||
      !at(p, first).is<For>() || size_of_block(p, first) != 1 ||
      loop_at(p, first).body.size() != 1 || size_of_block(p, child(next)) != 1)
    throw SchedulingError("join_diagonal: needs a nest over a triangle and a nest behind it");
  p = fuse(p, at(p, path), at(p, next));
  const Sym column = loop_at(p, first).iter;
  const ExprPtr end = loop_at(p, first).hi;
  p = add_loop(p, at(p, second), column.name(), int_const(1), false);
  p = shift_loop(p, at(p, second), end);
  Likeness like(p, column, loop_at(p, second).iter);
  like.make(child(first), child(second));
  p = like.proc();
  return join_loops(p, at(p, first), at(p, second));
}

ProcPtr square_corner(ProcPtr p, const std::string& outer, const std::string& inner, bool apart) {
  bool found = false;
  const std::vector<Cursor> loops = require_loops(p, outer);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const std::optional<int> level = level_of(*p, loop->path(), inner);
    if (!level) continue;
    const std::optional<Corner> corner = corner_of(*p, loop->path(), *level);
    if (!corner) continue;
    p = square_one(p, *corner, *level, apart);
    found = true;
  }
  if (!found)
    throw SchedulingError("square_corner: no loop over `" + inner + "` inside one over `" + outer +
                          "` follows it, both of known size");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> triangles_operators() {
  using namespace params;
  return {
      {"square_corner",
       {proc(), string("outer"), string("inner"), boolean("apart", true)},
       "a triangle of sums is computed as a square in a buffer, and leaves it as the triangle",
       [](const OperatorArgs& a) -> Value {
         return square_corner(a.proc(), a.string(1), a.string(2), a.boolean(3));
       }},
      {"join_diagonal",
       {proc(), place("loop")},
       "for i: for j in seq(lo, i): s(j); for i: s(i)  ->  for i: for j in seq(lo, i + 1): s(j)",
       [](const OperatorArgs& a) -> Value { return join_diagonal(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
