// resize_dim and unroll_buffer: an allocation that holds less at a time, or scalars in its place.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/layout_site.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

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
    accesses_ = accesses_of(p, first_, n, s.alloc->name);
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
  std::vector<Value> args{place(alloc, s.cursor), dim, trace_value(size, *p, s.cursor),
                          trace_value(offset, *p, s.cursor)};
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

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> layout_resize_operators() {
  using namespace params;
  return {
      {"resize_dim",
       {proc(), place("buf"), integer("dim"), expression("size"), expression("offset"),
        boolean("fold", false)},
       "x : T[n]; x[i]  ->  x : T[size]; x[i - offset]   (fold: x[i % size])",
       [](const OperatorArgs& a) -> Value {
         Path at = scope_of(a.proc(), a.where(1));
         return resize_dim(a.proc(), a.where(1), a.small(2), a.expr(3, at), a.expr(4, at),
                           a.boolean(5));
       }},
      {"unroll_buffer",
       {proc(), place("alloc"), integer("dim")},
       "x : T[2]; x[0]; x[1]  ->  x_0 : T; x_1 : T; x_0; x_1",
       [](const OperatorArgs& a) -> Value {
         return unroll_buffer(a.proc(), a.where(1), a.small(2));
       }},
  };
}

}  // namespace exotune
