// Primitives that change how an allocation's elements are laid out: every access is rewritten by
// one map, which keeps values apart as they were apart before. All keep the tree's shape, so
// cursors to statements stay valid. Windows keep their own dimensions in order; where a map cannot
// give that, it refuses.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {
// The allocation that a primitive was pointed at, with what each of them looks up about it.

struct Site {
  Cursor cursor;
  const Alloc* alloc;
  const Path& path() const { return cursor.path(); }
  const std::vector<ExprPtr>& shape() const { return alloc->type.shape; }
  int rank() const { return alloc->type.rank(); }
};

Site site_of(const ProcPtr& p, const Where& where) {
  Cursor c = where.alloc(p);
  return {c, &c.as<Alloc>()};
}

void require_dim(const Site& s, int dim, const char* op) {
  if (dim < 0 || dim >= s.rank())
    refuse(op, "`" + s.alloc->name.name() + "` has " + std::to_string(s.rank()) +
                   " dimensions, there is no dimension " + std::to_string(dim));
}

StmtPtr reshaped(const Site& s, std::vector<ExprPtr> shape) {
  Type t = s.alloc->type;
  t.shape = std::move(shape);
  return make_stmt(Alloc{s.alloc->name, std::move(t), s.alloc->mem}, s.cursor.stmt()->where);
}

// A changed window: each access with the original dimension an interval came from.
struct Mapped {
  WindowAccess access;
  int origin;  // of an interval; -1 for points
};

// Requires that the intervals still come in the original order, then drops the bookkeeping.
std::vector<WindowAccess> in_order(const std::vector<Mapped>& mapped, const char* op, Sym buffer) {
  std::vector<WindowAccess> out;
  int last = -1;
  for (const Mapped& m : mapped) {
    if (!m.access.is_point()) {
      if (m.origin <= last)
        refuse(op, "a window of `" + buffer.name() + "` would change the order of its dimensions");
      last = m.origin;
    }
    out.push_back(m.access);
  }
  return out;
}

// Applies `map` to the scope of the allocation, then re-proves the calls that take the buffer.
ProcPtr relayout(const ProcPtr& p, const Site& s, const StmtPtr& new_alloc, UseMap map,
                 std::vector<Value> args) {
  std::vector<ExprPtr> new_shape = new_alloc->as<Alloc>()->type.shape;
  map.buffer = s.alloc->name;
  map.shape = s.shape();
  if (!map.shape_of) map.shape_of = [new_shape](Sym) { return new_shape; };
  Rewrite rw(p);
  rw.map_in_place(map_scope(*p, s.path(), new_alloc, map));
  Block rest = rest_of_block(*p, s.path());
  if (!rest.empty())
    require_calls(rw.proc(), sibling(s.path(), 1), static_cast<int>(rest.size()),
                  aliases_in(rest, {s.alloc->name}), map.op);
  require_config_writes_fixed(rw.proc(), map.op);
  return rw.finish(map.op, std::move(args));
}

// Arguments go into the trace as they would be written: numbers as numbers, expressions as text in
// the scope of the place.
Value text(const ExprPtr& e, const Proc& p, const Cursor& at) {
  if (auto k = as_int(e)) return Value(*k);
  return Value(str(e, scope_at(p, at.path())));
}

// A new size and a place in it may stand at the allocation: control expressions of visible names
// that nothing changes meanwhile, the size proved positive.
// An extent that reads configuration or a loop variable that changes would be another number at the
// allocation than at the uses.
void require_size(const char* op, const Proc& p, const Site& s, const ExprPtr& size,
                  const ExprPtr& place) {
  for (const ExprPtr& e : {size, place}) {
    if (!is_integer_control(e->type))
      refuse(op, "`" + str(e) + "` is no integer control expression");
    if (!in_scope(p, s.path(), e))
      refuse(op, "`" + str(e) + "` uses a name that is not visible at the allocation");
    if (reads_config(e)) refuse(op, "`" + str(e) + "` reads configuration state, which may change");
    require_moderate(e, op);
  }
  require(prove(p, s.path(), bin_op(BinOpKind::kGt, size, int_const(0))), op,
          "`" + str(size) + "` is not proved positive");
}

}  // namespace

// x : T  ->  x : T[size], x[...]  ->  x[index, ...]. Safe when the index is the same at the write
// and the read of an element, which holds because `index` may only use names that are in scope at
// the allocation; and within [0, size) wherever the buffer is used. Proved at the allocation if
// possible (one question), else at each use with its own facts.
ProcPtr expand_dim(ProcPtr p, const Where& alloc, const ExprPtr& size, const ExprPtr& index) {
  const char* op = "expand_dim";
  Site s = site_of(p, alloc);
  require_size(op, *p, s, size, index);
  ExprPtr inside = bin_op(BinOpKind::kAnd, bin_op(BinOpKind::kLe, int_const(0), index),
                          bin_op(BinOpKind::kLt, index, size));
  bool everywhere = static_cast<bool>(prove(*p, s.path(), inside));
  auto check_use = [&](const Path& at) {
    if (!everywhere)
      require(prove(*p, at, inside), op,
              "`" + str(index) + "` is not proved within [0, " + str(size) + ")");
  };
  UseMap map;
  map.op = op;
  Sym name = s.alloc->name;
  map.element = [&](const std::vector<ExprPtr>& idx, const Path& at) -> std::optional<ElementUse> {
    check_use(at);
    std::vector<ExprPtr> out{index};
    out.insert(out.end(), idx.begin(), idx.end());
    return ElementUse{name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path& at) -> std::optional<WindowUse> {
    check_use(at);
    std::vector<WindowAccess> out{{index, nullptr}};
    out.insert(out.end(), access.begin(), access.end());
    return WindowUse{name, out};
  };
  std::vector<ExprPtr> shape{size};
  shape.insert(shape.end(), s.shape().begin(), s.shape().end());
  return relayout(p, s, reshaped(s, shape), map,
                  {place(alloc, s.cursor), text(size, *p, s.cursor), text(index, *p, s.cursor)});
}

// x[i] -> x[i / q, i % q]: a bijection between [0, n) and [0, n / q) x [0, q) when q divides n, so
// that values apart stay apart. A window may be mapped only when it stays within one block of q:
// otherwise it would have no two strides.
ProcPtr divide_dim(ProcPtr p, const Where& alloc, int dim, int64_t q) {
  const char* op = "divide_dim";
  Site s = site_of(p, alloc);
  require_dim(s, dim, op);
  if (q <= 0) refuse(op, "the quotient must be positive");
  size_t d = static_cast<size_t>(dim);
  const ExprPtr& n = s.shape()[d];
  ExprPtr by = int_const(q);
  auto div = [&](const ExprPtr& e) { return bin_op(BinOpKind::kDiv, e, by); };
  auto mod = [&](const ExprPtr& e) { return bin_op(BinOpKind::kMod, e, by); };
  require(prove(*p, s.path(), bin_op(BinOpKind::kEq, mod(n), int_const(0))), op,
          "the size `" + str(n) + "` is not proved divisible by " + std::to_string(q));
  std::vector<ExprPtr> shape = s.shape();
  shape[d] = simplify_expr(*p, s.path(), div(n));
  shape.insert(shape.begin() + dim + 1, by);
  Sym name = s.alloc->name;
  UseMap map;
  map.op = op;
  map.element = [&](const std::vector<ExprPtr>& idx, const Path& at) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out = idx;
    out[d] = simplify_expr(*p, at, div(idx[d]));
    out.insert(out.begin() + dim + 1, simplify_expr(*p, at, mod(idx[d])));
    return ElementUse{name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path& at) -> std::optional<WindowUse> {
    std::vector<WindowAccess> out = access;
    const WindowAccess a = access[d];
    ExprPtr block = simplify_expr(*p, at, div(a.lo)), within = simplify_expr(*p, at, mod(a.lo));
    out[d] = {block, nullptr};
    WindowAccess inner{within, nullptr};
    if (!a.is_point()) {
      ExprPtr length = extent(a);
      // The end is exclusive: lo % q + length <= q.
      ExprPtr end = fold(within + length);
      require(prove(*p, at, bin_op(BinOpKind::kLe, end, by)), op,
              "a window of `" + name.name() + "` crosses a multiple of " + std::to_string(q));
      inner.hi = end;
    }
    out.insert(out.begin() + dim + 1, inner);
    return WindowUse{name, out};
  };
  return relayout(p, s, reshaped(s, shape), map, {place(alloc, s.cursor), dim, q});
}

// x[i, j] -> x[c * i + j], one dimension the less: a bijection because 0 <= j < c, which the bounds
// of the unchanged program already promise. `c` must be a literal: a product of two sizes is not
// affine.
ProcPtr mult_dim(ProcPtr p, const Where& alloc, int hi_dim, int lo_dim) {
  const char* op = "mult_dim";
  Site s = site_of(p, alloc);
  require_dim(s, hi_dim, op);
  require_dim(s, lo_dim, op);
  if (hi_dim == lo_dim) refuse(op, "the two dimensions are the same");
  size_t hi = static_cast<size_t>(hi_dim), lo = static_cast<size_t>(lo_dim);
  auto c = as_int(fold(s.shape()[lo]));
  if (!c)
    refuse(op, "the size `" + str(s.shape()[lo]) + "` of dimension " + std::to_string(lo_dim) +
                   " is not a literal");
  ExprPtr scale = int_const(*c);
  auto joined = [&](const ExprPtr& i, const ExprPtr& j) { return fold(scale * i + j); };
  std::vector<ExprPtr> shape = s.shape();
  shape[hi] = fold(scale * shape[hi]);
  shape.erase(shape.begin() + lo_dim);
  Sym name = s.alloc->name;
  UseMap map;
  map.op = op;
  map.element = [&](const std::vector<ExprPtr>& idx, const Path&) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out = idx;
    out[hi] = joined(idx[hi], idx[lo]);
    out.erase(out.begin() + lo_dim);
    return ElementUse{name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path&) -> std::optional<WindowUse> {
    std::vector<Mapped> out;
    for (size_t k = 0; k < access.size(); ++k) {
      if (k == lo) continue;
      if (k != hi) {
        out.push_back({access[k], static_cast<int>(k)});
        continue;
      }
      const WindowAccess &h = access[hi], &l = access[lo];
      if (!h.is_point()) {
        // Whole runs of the low dimension would merge two of the window's dimensions into one.
        refuse(op, "a window of `" + name.name() + "` spans dimension " + std::to_string(hi_dim));
      }
      WindowAccess m{joined(h.lo, l.lo), l.is_point() ? nullptr : joined(h.lo, l.hi)};
      out.push_back({m, static_cast<int>(lo)});
    }
    return WindowUse{name, in_order(out, op, name)};
  };
  return relayout(p, s, reshaped(s, shape), map, {place(alloc, s.cursor), hi_dim, lo_dim});
}

// x[i, j] -> x[j, i]: a bijection without a condition. Windows keep the order of their dimensions,
// so one whose intervals would swap is refused.
ProcPtr rearrange_dim(ProcPtr p, const Where& alloc, const std::vector<int>& permutation) {
  const char* op = "rearrange_dim";
  Site s = site_of(p, alloc);
  std::set<int> seen(permutation.begin(), permutation.end());
  bool valid = static_cast<int>(permutation.size()) == s.rank() &&
               seen.size() == permutation.size() &&
               (seen.empty() || (*seen.begin() == 0 && *seen.rbegin() == s.rank() - 1));
  if (!valid)
    refuse(op, "the list is no permutation of the " + std::to_string(s.rank()) + " dimensions");
  std::vector<ExprPtr> shape;
  for (int k : permutation) shape.push_back(s.shape()[static_cast<size_t>(k)]);
  Sym name = s.alloc->name;
  UseMap map;
  map.op = op;
  map.element = [&](const std::vector<ExprPtr>& idx, const Path&) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out;
    for (int k : permutation) out.push_back(idx[static_cast<size_t>(k)]);
    return ElementUse{name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path&) -> std::optional<WindowUse> {
    std::vector<Mapped> out;
    for (int k : permutation) out.push_back({access[static_cast<size_t>(k)], k});
    return WindowUse{name, in_order(out, op, name)};
  };
  return relayout(p, s, reshaped(s, shape), map,
                  {place(alloc, s.cursor), Value::ints({permutation.begin(), permutation.end()})});
}

// The same for an argument: the signature changes with it, so callers have to pass the transpose.
// Marked as specialising: the new procedure is not a replacement for the old one where that is
// called. An assert about strides would speak of the wrong dimension and refuses the step.
ProcPtr transpose(ProcPtr p, const Where& arg, const std::vector<int>& given) {
  const char* op = "transpose";
  Cursor c = arg.buffer(p);
  if (c.kind() != CursorKind::kArg)
    refuse(op, "only arguments are transposed; rearrange_dim is for allocations");
  const Arg& a = p->args[static_cast<size_t>(c.arg_index())];
  const int rank = a.type.rank();
  std::vector<int> permutation = given;
  if (permutation.empty())
    for (int k = rank; k-- > 0;) permutation.push_back(k);
  std::set<int> seen(permutation.begin(), permutation.end());
  if (rank < 2) refuse(op, "`" + a.name.name() + "` has fewer than two dimensions");
  if (static_cast<int>(permutation.size()) != rank || static_cast<int>(seen.size()) != rank ||
      *seen.begin() != 0 || *seen.rbegin() != rank - 1)
    refuse(op, "the list is no permutation of the " + std::to_string(rank) + " dimensions");
  for (const ExprPtr& e : p->asserts)
    if (mentions(e, a.name))
      refuse(op, "the assert `" + str(e) + "` is about strides of `" + a.name.name() + "`");
  std::vector<ExprPtr> shape;
  for (int k : permutation) shape.push_back(a.type.shape[static_cast<size_t>(k)]);
  UseMap map;
  map.op = op;
  map.buffer = a.name;
  map.shape = a.type.shape;
  map.shape_of = [&](Sym) { return shape; };
  map.element = [&](const std::vector<ExprPtr>& idx, const Path&) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out;
    for (int k : permutation) out.push_back(idx[static_cast<size_t>(k)]);
    return ElementUse{a.name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path&) -> std::optional<WindowUse> {
    std::vector<Mapped> out;
    for (int k : permutation) out.push_back({access[static_cast<size_t>(k)], k});
    return WindowUse{a.name, in_order(out, op, a.name)};
  };
  Rewrite rw(p);
  rw.map_in_place(map_uses(p->body, {{Child::kBody, 0}}, map));
  rw.set_header([&](Proc& q) { q.args[static_cast<size_t>(c.arg_index())].type.shape = shape; });
  require_calls(rw.proc(), {{Child::kBody, 0}}, static_cast<int>(p->body.size()),
                aliases_in(p->body, {a.name}), op);
  rw.flags.specializes = true;
  std::vector<Value> args{place(arg, c)};
  if (!given.empty()) args.push_back(Value::ints({given.begin(), given.end()}));
  return rw.finish(op, std::move(args));
}

namespace {

// Folding an index modulo `size` keeps every live value when no access lies `size` or more below
// one made earlier: then between the write and the read of an element nothing else touches its
// slot. Checked for every ordered pair of accesses, loop by loop of those they share.
class FoldCheck {
 public:
  FoldCheck(const Proc& p, const Site& s, size_t dim, int64_t size)
      : p_(p), dim_(dim), size_(int_const(size)) {
    first_ = sibling(s.path(), 1);
    int n = static_cast<int>(rest_of_block(p, s.path()).size());
    for (Access& a : accesses_of(p, first_, n))
      if (a.buffer == s.alloc->name) accesses_.push_back(std::move(a));
  }

  void run() const {
    // Quadratic in the accesses of one buffer, which are few; each pair is a handful of affine
    // questions.
    for (const Access& earlier : accesses_)
      for (const Access& later : accesses_) pair(earlier, later);
  }

 private:
  // How many of the loops around the accesses are the same loop.
  size_t shared_loops(const Access& a, const Access& b) const {
    size_t n = 0;
    while (n < a.vars.size() && n < b.vars.size() && a.vars[n].var == b.vars[n].var &&
           is_loop(a, n))
      ++n;
    return n;
  }
  // Variables added for a window passed to a call are no loops.
  bool is_loop(const Access& a, size_t k) const {
    size_t loops = enclosing_loops(p_, a.stmt).size() - enclosing_loops(p_, first_).size();
    return k < loops;
  }

  void pair(const Access& earlier, const Access& later) const {
    size_t shared = shared_loops(earlier, later);
    for (size_t d = 0; d < shared; ++d) ordered(earlier, later, d, /*same_iteration=*/false);
    bool same_stmt = earlier.stmt == later.stmt;
    bool before = same_stmt
                      ? stmt_at(p_, earlier.stmt)->as<Call>() != nullptr ||
                            earlier.kind == Access::Kind::kRead
                      : std::lexicographical_compare(
                            earlier.stmt.begin(), earlier.stmt.end(), later.stmt.begin(),
                            later.stmt.end(), [](const Step& x, const Step& y) {
                              return std::pair(x.child, x.index) < std::pair(y.child, y.index);
                            });
    if (before) ordered(earlier, later, shared, /*same_iteration=*/true);
  }

  // Proves idx(later) + size > idx(earlier) where the first `depth` shared loops are at the same
  // iteration and, unless all are, the next one is at an earlier iteration for `earlier`.
  void ordered(const Access& earlier, const Access& later, size_t depth,
               bool same_iteration) const {
    std::vector<RangedVar> vars;
    std::vector<ExprPtr> assumptions;
    auto renamed = [&](const Access& a, const std::map<Sym, Sym>& fixed,
                       std::map<Sym, Sym>& names) {
      auto apply = [&](ExprPtr e) {
        for (auto [from, to] : names) e = rename(e, from, to);
        return e;
      };
      for (const RangedVar& v : a.vars) {
        auto it = fixed.find(v.var);
        Sym fresh = it == fixed.end() ? v.var.copy() : it->second;
        RangedVar n{fresh, apply(v.lo), apply(v.hi)};
        names[v.var] = fresh;
        if (it == fixed.end()) vars.push_back(n);
      }
      for (const ExprPtr& c : a.conditions) assumptions.push_back(apply(c));
      return apply(a.idx[dim_]);
    };
    std::map<Sym, Sym> names_a, names_b, fixed;
    ExprPtr ea = renamed(earlier, {}, names_a);
    for (size_t k = 0; k < depth; ++k) fixed[earlier.vars[k].var] = names_a[earlier.vars[k].var];
    ExprPtr eb = renamed(later, fixed, names_b);
    if (!same_iteration) {
      Sym v = earlier.vars[depth].var;
      assumptions.push_back(bin_op(BinOpKind::kLt, read_var(names_a[v], ScalarType::kIndex),
                                   read_var(names_b[v], ScalarType::kIndex)));
    }
    require(prove_for_all(p_, first_, vars, assumptions, bin_op(BinOpKind::kGt, eb + size_, ea)),
            "resize_dim", "folding would keep two live values in one slot");
  }

  const Proc& p_;
  size_t dim_;
  ExprPtr size_;
  Path first_;
  std::vector<Access> accesses_;
};

}  // namespace

ProcPtr resize_dim(ProcPtr p, const Where& alloc, int dim, const ExprPtr& size,
                   const ExprPtr& offset, bool fold_it) {
  const char* op = "resize_dim";
  Site s = site_of(p, alloc);
  require_dim(s, dim, op);
  size_t d = static_cast<size_t>(dim);
  require_size(op, *p, s, size, offset);
  auto literal = as_int(fold(size));
  if (fold_it && !literal) refuse(op, "the size to fold to must be a literal");
  if (fold_it && !rest_of_block(*p, s.path()).empty()) FoldCheck(*p, s, d, *literal).run();

  Sym name = s.alloc->name;
  auto moved = [&](const ExprPtr& e) { return fold(e - offset); };
  auto inside = [&](const ExprPtr& lo, const ExprPtr& last, const Path& at) {
    require(prove(*p, at,
                  bin_op(BinOpKind::kAnd, bin_op(BinOpKind::kLe, int_const(0), lo),
                         bin_op(BinOpKind::kLe, last, size))),
            op, "an access to `" + name.name() + "` is not proved within the new size");
  };
  auto wrapped = [&](const ExprPtr& e, const Path& at) {
    return simplify_expr(*p, at, bin_op(BinOpKind::kMod, e, int_const(*literal)));
  };
  UseMap map;
  map.op = op;
  map.element = [&](const std::vector<ExprPtr>& idx, const Path& at) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out = idx;
    out[d] = moved(idx[d]);
    if (fold_it)
      out[d] = wrapped(out[d], at);
    else
      inside(out[d], fold(out[d] + int_const(1)), at);
    return ElementUse{name, out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path& at) -> std::optional<WindowUse> {
    std::vector<WindowAccess> out = access;
    WindowAccess& a = out[d];
    if (a.is_point()) {
      a.lo = moved(a.lo);
      if (fold_it)
        a.lo = wrapped(a.lo, at);
      else
        inside(a.lo, fold(a.lo + int_const(1)), at);
      return WindowUse{name, out};
    }
    ExprPtr length = extent(a);
    a.lo = fold_it ? wrapped(moved(a.lo), at) : moved(a.lo);
    a.hi = fold(a.lo + length);
    if (fold_it)
      require(prove(*p, at, bin_op(BinOpKind::kLe, a.hi, size)), op,
              "a window of `" + name.name() + "` would wrap around");
    else
      inside(a.lo, a.hi, at);
    return WindowUse{name, out};
  };
  std::vector<ExprPtr> shape = s.shape();
  shape[d] = size;
  std::vector<Value> args{place(alloc, s.cursor), dim, text(size, *p, s.cursor),
                          text(offset, *p, s.cursor)};
  if (fold_it) args.push_back(std::map<std::string, Value>{{"fold", Value(true)}});
  ProcPtr result = relayout(p, s, reshaped(s, shape), map, std::move(args));
  if (fold_it) {
    // Iterations that had elements of their own may now share a slot.
    const std::set<Sym> names = aliases_in(rest_of_block(*result, s.path()), {name});
    for (const Path& at : all_stmt_paths(*result)) {
      const For* f = stmt_at(*result, at)->as<For>();
      if (f && f->mode == LoopMode::kPar && mentions_any(f->body, names))
        require(loop_parallel(*result, at), op, "iterations of a parallel loop would share a slot");
    }
  }
  return result;
}

ProcPtr unroll_buffer(ProcPtr p, const Where& alloc, int dim) {
  const char* op = "unroll_buffer";
  Site s = site_of(p, alloc);
  require_dim(s, dim, op);
  size_t d = static_cast<size_t>(dim);
  auto count = as_int(fold(s.shape()[d]));
  if (!count) refuse(op, "the size `" + str(s.shape()[d]) + "` is not a literal");
  if (*count < 1) refuse(op, "the size `" + str(s.shape()[d]) + "` is not positive");
  if (*count > 4096) refuse(op, "it would make " + std::to_string(*count) + " buffers");
  std::vector<ExprPtr> shape = s.shape();
  shape.erase(shape.begin() + dim);
  std::vector<Sym> names;
  Block allocs;
  for (int64_t k = 0; k < *count; ++k) {
    // One buffer an element of the dimension; the names carry the element's number, so traces stay
    // readable.
    const std::string suffix = *count == 1 ? "" : "_" + std::to_string(k);
    names.push_back(Sym::fresh(s.alloc->name.name() + suffix));
    Type t = s.alloc->type;
    t.shape = shape;
    allocs.push_back(make_stmt(Alloc{names.back(), t, s.alloc->mem}, s.cursor.stmt()->where));
  }
  // Which buffer an access means must be a number after simplification at its place: loops over the
  // dimension are unrolled first.
  auto which = [&](const ExprPtr& e, const Path& at) {
    auto k = as_int(simplify_expr(*p, at, e));
    if (!k)
      refuse(op, "the index `" + str(e) + "` into `" + s.alloc->name.name() + "` is not a literal");
    if (*k < 0 || *k >= *count) refuse(op, "the index `" + str(e) + "` leaves the buffer");
    return names[static_cast<size_t>(*k)];
  };
  UseMap map;
  map.op = op;
  map.buffer = s.alloc->name;
  map.shape = s.shape();
  map.shape_of = [&](Sym) { return shape; };
  map.element = [&](const std::vector<ExprPtr>& idx, const Path& at) -> std::optional<ElementUse> {
    std::vector<ExprPtr> out = idx;
    out.erase(out.begin() + dim);
    return ElementUse{which(idx[d], at), out};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path& at) -> std::optional<WindowUse> {
    if (!access[d].is_point())
      refuse(op, "`" + s.alloc->name.name() + "` is windowed along that dimension");
    std::vector<WindowAccess> out = access;
    out.erase(out.begin() + dim);
    return WindowUse{which(access[d].lo, at), out};
  };
  Rewrite rw(p);
  rw.map_in_place(map_scope(*p, s.path(), allocs[0], map));
  // The first new allocation takes the old one's place in the tree, so that cursors to later
  // statements move by a known amount.
  if (allocs.size() > 1) rw.insert(sibling(s.path(), 1), Block(allocs.begin() + 1, allocs.end()));
  Block rest = rest_of_block(*p, s.path());
  if (!rest.empty()) {
    std::set<Sym> made(names.begin(), names.end());
    require_calls(rw.proc(), sibling(s.path(), static_cast<int>(allocs.size())),
                  static_cast<int>(rest.size()),
                  aliases_in(rest_of_block(rw.proc(), s.path()), made), op);
  }
  return rw.finish(op, {place(alloc, s.cursor), dim});
}

}  // namespace exotune
