// Primitives that change how an allocation's elements are laid out: every access is rewritten by
// one map, which keeps values apart as they were apart before. All keep the tree's shape, so
// cursors to statements stay valid. Windows keep their own dimensions in order; where a map cannot
// give that, it refuses.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/layout_site.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {

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
  return relayout(
      p, s, reshaped(s, shape), map,
      {place(alloc, s.cursor), trace_value(size, *p, s.cursor), trace_value(index, *p, s.cursor)});
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

namespace {

// x[i, j] -> x[c * i + j], one dimension the less: a bijection because 0 <= j < c, which the bounds
// of the unchanged program already promise. `c` must be a literal: a product of two sizes is not
// affine.
struct JoinedDims {
  std::vector<ExprPtr> shape;
  UseMap map;
};
JoinedDims joined_dims(Sym name, std::vector<ExprPtr> shape, int hi_dim, int lo_dim,
                       const char* op) {
  const size_t hi = static_cast<size_t>(hi_dim), lo = static_cast<size_t>(lo_dim);
  const auto c = as_int(fold(shape[lo]));
  if (!c)
    refuse(op, "the size `" + str(shape[lo]) + "` of dimension " + std::to_string(lo_dim) +
                   " is not a literal");
  const auto joined = [scale = int_const(*c)](const ExprPtr& i, const ExprPtr& j) {
    return fold(scale * i + j);
  };
  JoinedDims out;
  out.map.op = op;
  out.map.element = [=](const std::vector<ExprPtr>& idx, const Path&) -> std::optional<ElementUse> {
    std::vector<ExprPtr> at = idx;
    at[hi] = joined(idx[hi], idx[lo]);
    at.erase(at.begin() + lo_dim);
    return ElementUse{name, at};
  };
  out.map.window = [=](const std::vector<WindowAccess>& access,
                       const Path&) -> std::optional<WindowUse> {
    std::vector<Mapped> mapped;
    for (size_t k = 0; k < access.size(); ++k) {
      if (k == lo) continue;
      if (k != hi) {
        mapped.push_back({access[k], static_cast<int>(k)});
        continue;
      }
      const WindowAccess &h = access[hi], &l = access[lo];
      if (!h.is_point()) {
        // Whole runs of the low dimension would merge two of the window's dimensions into one.
        refuse(op, "a window of `" + name.name() + "` spans dimension " + std::to_string(hi_dim));
      }
      WindowAccess m{joined(h.lo, l.lo), l.is_point() ? nullptr : joined(h.lo, l.hi)};
      mapped.push_back({m, lo_dim});
    }
    return WindowUse{name, in_order(mapped, op, name)};
  };
  shape[hi] = fold(int_const(*c) * shape[hi]);
  shape.erase(shape.begin() + lo_dim);
  out.shape = std::move(shape);
  return out;
}

}  // namespace

ProcPtr mult_dim(ProcPtr p, const Where& alloc, int hi_dim, int lo_dim) {
  const char* op = "mult_dim";
  Site s = site_of(p, alloc);
  require_dim(s, hi_dim, op);
  require_dim(s, lo_dim, op);
  if (hi_dim == lo_dim) refuse(op, "the two dimensions are the same");
  JoinedDims joined = joined_dims(s.alloc->name, s.shape(), hi_dim, lo_dim, op);
  return relayout(p, s, reshaped(s, joined.shape), joined.map,
                  {place(alloc, s.cursor), hi_dim, lo_dim});
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

namespace {

// The tensor argument that a primitive was pointed at, and what it becomes.
struct ArgumentSite {
  Cursor cursor;
  const Arg& arg(const Proc& p) const { return p.args[static_cast<size_t>(cursor.arg_index())]; }
};

ArgumentSite argument_of(const ProcPtr& p, const Where& where, const std::string& allocations,
                         const char* op) {
  ArgumentSite out{where.buffer(p)};
  if (out.cursor.kind() != CursorKind::kArg)
    refuse(op, "only arguments are meant; " + allocations + " is for allocations");
  const Sym name = out.arg(*p).name;
  for (const ExprPtr& e : p->asserts)
    if (mentions(e, name))
      refuse(op, "the assert `" + str(e) + "` is about strides of `" + name.name() + "`");
  return out;
}

// Every use mapped, the argument of another shape. The signature changes: marked as specialising,
// for the new procedure is not a replacement for the old one where that is called.
ProcPtr with_argument_shape(const ProcPtr& p, const ArgumentSite& at, UseMap map,
                            const std::vector<ExprPtr>& shape, std::vector<Value> args) {
  const Arg& a = at.arg(*p);
  map.buffer = a.name;
  map.shape = a.type.shape;
  map.shape_of = [&](Sym) { return shape; };
  Rewrite rw(p);
  rw.map_in_place(map_uses(p->body, {{Child::kBody, 0}}, map));
  rw.set_header(
      [&](Proc& q) { q.args[static_cast<size_t>(at.cursor.arg_index())].type.shape = shape; });
  require_calls(rw.proc(), {{Child::kBody, 0}}, static_cast<int>(p->body.size()),
                aliases_in(p->body, {a.name}), map.op);
  rw.flags.specializes = true;
  return rw.finish(map.op, std::move(args));
}

}  // namespace

// Callers have to pass the transpose. An assert about strides would speak of the wrong dimension
// and refuses the step.
ProcPtr transpose(ProcPtr p, const Where& arg, const std::vector<int>& given) {
  const char* op = "transpose";
  const ArgumentSite at = argument_of(p, arg, "rearrange_dim", op);
  const Arg& a = at.arg(*p);
  const int rank = a.type.rank();
  std::vector<int> permutation = given;
  if (permutation.empty())
    for (int k = rank; k-- > 0;) permutation.push_back(k);
  std::set<int> seen(permutation.begin(), permutation.end());
  if (rank < 2) refuse(op, "`" + a.name.name() + "` has fewer than two dimensions");
  if (static_cast<int>(permutation.size()) != rank || static_cast<int>(seen.size()) != rank ||
      *seen.begin() != 0 || *seen.rbegin() != rank - 1)
    refuse(op, "the list is no permutation of the " + std::to_string(rank) + " dimensions");
  std::vector<ExprPtr> shape;
  for (int k : permutation) shape.push_back(a.type.shape[static_cast<size_t>(k)]);
  UseMap map;
  map.op = op;
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
  std::vector<Value> args{place(arg, at.cursor)};
  if (!given.empty()) args.push_back(Value::ints({given.begin(), given.end()}));
  return with_argument_shape(p, at, map, shape, std::move(args));
}

// A dense argument's rows lie one after the other, so that the same memory, unchanged, is a tensor
// with the two dimensions as one. A window's need not.
ProcPtr join_dims(ProcPtr p, const Where& arg, int dim) {
  const char* op = "join_dims";
  const ArgumentSite at = argument_of(p, arg, "mult_dim", op);
  const Arg& a = at.arg(*p);
  if (a.type.window)
    refuse(op, "`" + a.name.name() + "` is a window, whose rows need not lie side by side");
  if (a.mem->kind != MemoryKind::kHeap)
    refuse(op, "`" + a.name.name() + "` is in " + a.mem->name + ", not in main memory");
  if (dim < 0 || dim + 1 >= a.type.rank())
    refuse(op, "`" + a.name.name() + "` has no dimensions " + std::to_string(dim) + " and " +
                   std::to_string(dim + 1));
  JoinedDims joined = joined_dims(a.name, a.type.shape, dim, dim + 1, op);
  return with_argument_shape(p, at, joined.map, joined.shape, {place(arg, at.cursor), dim});
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

std::vector<int> small_integers(const OperatorArgs& a, int k) {
  std::vector<int> out;
  for (int64_t v : a.integers(k)) {
    // A dimension is an int below; a thousand are more than any tensor has.
    if (v < 0 || v > 1000) throw InputError({}, std::to_string(v) + " is no dimension");
    out.push_back(static_cast<int>(v));
  }
  return out;
}

}  // namespace

std::vector<Operator> layout_operators() {
  using namespace params;
  return {
      {"expand_dim",
       {proc(), place("buf"), expression("alloc_dim"), expression("indexing_expr")},
       "x : T  ->  x : T[n]; x  ->  x[e]",
       [](const OperatorArgs& a) -> Value {
         Path at = scope_of(a.proc(), a.where(1));
         return expand_dim(a.proc(), a.where(1), a.expr(2, at), a.expr(3, at));
       }},
      {"divide_dim",
       {proc(), place("alloc"), integer("dim"), integer("quotient")},
       "x : T[n]; x[i]  ->  x : T[n / q, q]; x[i / q, i % q]",
       [](const OperatorArgs& a) -> Value {
         return divide_dim(a.proc(), a.where(1), a.small(2), a.integer(3));
       }},
      {"mult_dim",
       {proc(), place("alloc"), integer("hi_dim"), integer("lo_dim")},
       "x : T[n, c]; x[i, j]  ->  x : T[n * c]; x[c * i + j]",
       [](const OperatorArgs& a) -> Value {
         return mult_dim(a.proc(), a.where(1), a.small(2), a.small(3));
       }},
      {"rearrange_dim",
       {proc(), place("buf"), integers("permutation")},
       "x : T[n, m]; x[i, j]  ->  x : T[m, n]; x[j, i]",
       [](const OperatorArgs& a) -> Value {
         return rearrange_dim(a.proc(), a.where(1), small_integers(a, 2));
       }},
      {"transpose",
       {proc(), place("arg"), integers("permutation", Value(ValueList{}))},
       "def f(x: T[n, m]): s(x[i, j])  ->  def f(x: T[m, n]): s(x[j, i])",
       [](const OperatorArgs& a) -> Value {
         return transpose(a.proc(), a.where(1), small_integers(a, 2));
       }},
      {"join_dims",
       {proc(), place("arg"), integer("dim")},
       "def f(x: T[n, c]): s(x[i, j])  ->  def f(x: T[n * c]): s(x[c * i + j])   the same memory",
       [](const OperatorArgs& a) -> Value { return join_dims(a.proc(), a.where(1), a.small(2)); }},
  };
}

}  // namespace exotune
