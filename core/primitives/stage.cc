// stage_mem: work on a copy of part of a buffer.
#include "core/frontend/parser.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kStageMem = "stage_mem";

enum class Place { kInside, kOutside };

// Null for what is no reduction.
std::optional<ReduceOp> reduction_of(Access::Kind k) {
  switch (k) {
    case Access::Kind::kReduceAdd:
      return ReduceOp::kAdd;
    case Access::Kind::kReduceMax:
      return ReduceOp::kMax;
    case Access::Kind::kReduceMin:
      return ReduceOp::kMin;
    case Access::Kind::kRead:
    case Access::Kind::kWrite:
      break;
  }
  return std::nullopt;
}

// The staged window of the root buffer, and where uses of the buffer fall relative to it.
class Stage {
 public:
  Stage(const ProcPtr& p, const Cursor& block, const std::string& window)
      : p_(*p), first_(block.path()), n_(block.length()) {
    // Names in the window are those visible before the block, where the copy will be declared.
    ExprPtr parsed = parse_window_at(p_, first_, window);
    const WindowExpr* w = parsed->as<WindowExpr>();
    const Read* scalar = parsed->as<Read>();
    Sym name = w ? w->name : scalar->name;
    // The window may be given of a window: everything below is said of the buffer at its root, so
    // that uses through other windows are met as well.
    auto entry = lookup(p_, first_, name);
    auto alias = resolve_alias(p_, first_, name);
    if (!entry || !alias)
      refuse(kStageMem, "`" + name.name() + "` is no buffer visible at the block");
    std::vector<WindowAccess> given = w ? w->access : whole_window(entry->type.shape);
    // The copies stand elsewhere than the uses: a field that is written may differ there.
    const bool config_written = std::any_of(p_.body.begin(), p_.body.end(),
                                            [](const StmtPtr& s) { return s->writes_config; });
    for (const WindowAccess& a : given)
      for (const ExprPtr& e : {a.lo, a.hi})
        if (e && config_written && reads_config(e))
          refuse(kStageMem, "`" + str(e) + "` reads configuration state, which is written");
    root_ = alias->root;
    auto root_entry = lookup(p_, first_, root_);
    shape_ = root_entry->type.shape;
    scalar_ = root_entry->type.scalar;
    access_ = compose(*alias, given);
    for (WindowAccess& a : access_) {
      a.lo = fold(a.lo);
      if (a.hi) a.hi = fold(a.hi);
    }
    // A copy of no elements would make an allocation that C does not have.
    for (const ExprPtr& size : window_shape(access_))
      require(prove(p_, first_, bin_op(BinOpKind::kGt, size, int_const(0))), kStageMem,
              "the window's size `" + str(size) + "` is not proved positive");
    // What is proved to lie outside is none of the stage's business; the rest has to be proved
    // inside, access by access, when it is rewritten.
    for (const Access& a : accesses_of(p_, first_, n_))
      if (a.buffer == root_ && !provably_outside(a)) accesses_.push_back(a);
    if (accesses_.empty())
      refuse(kStageMem, "the block does not use that part of `" + root_.name() + "`");
  }

  Sym root() const { return root_; }
  ScalarType scalar() const { return scalar_; }
  const std::vector<WindowAccess>& access() const { return access_; }
  std::vector<ExprPtr> tmp_shape() const { return window_shape(access_); }

  // A reduction reads and writes.
  bool is_read() const {
    for (const Access& a : accesses_)
      if (a.kind != Access::Kind::kWrite) return true;
    return false;
  }
  bool is_written() const {
    for (const Access& a : accesses_)
      if (a.kind != Access::Kind::kRead) return true;
    return false;
  }
  // The operation when the block only reduces into the window, always with the same one.
  std::optional<ReduceOp> only_reduction() const {
    for (const Access& a : accesses_)
      if (a.kind != accesses_.front().kind) return std::nullopt;
    return reduction_of(accesses_.front().kind);
  }

  // True when each element of the window is surely written by the block before anything reads it.
  // Then no copy in is needed. One write has to cover all: several that do together are not
  // recognised.
  bool written_first() const {
    for (const Access& w : accesses_)
      if (w.kind == Access::Kind::kWrite && covers(w) && precedes_all(w)) return true;
    return false;
  }

  // Element uses: inside gives the staged element, outside leaves the use alone.
  std::optional<ElementUse> element(const Alias& alias, const std::vector<ExprPtr>& idx,
                                    const Path& at, Sym tmp) const {
    std::vector<ExprPtr> root_idx = compose(alias, idx);
    // in: all hold where the use lies inside; out: one holds where it lies outside; mapped: the
    // subscripts in the copy.
    std::vector<ExprPtr> in, out, mapped;
    for (size_t d = 0; d < access_.size(); ++d) {
      const WindowAccess& a = access_[d];
      const ExprPtr& i = root_idx[d];
      // A dimension that the window drops: the copy has no subscript for it.
      if (a.is_point()) {
        if (affine_equal(i, a.lo)) continue;
        in.push_back(bin_op(BinOpKind::kEq, i, a.lo));
        out.push_back(bin_op(BinOpKind::kNe, i, a.lo));
        continue;
      }
      in.push_back(bin_op(BinOpKind::kLe, a.lo, i));
      in.push_back(bin_op(BinOpKind::kLt, i, a.hi));
      out.push_back(bin_op(BinOpKind::kLt, i, a.lo));
      out.push_back(bin_op(BinOpKind::kGe, i, a.hi));
      mapped.push_back(fold(i - a.lo));
    }
    if (place(in, out, at) == Place::kOutside) return std::nullopt;
    return ElementUse{tmp, mapped};
  }

  std::optional<WindowUse> window(const Alias& alias, const std::vector<WindowAccess>& given,
                                  const Path& at, Sym tmp) const {
    std::vector<WindowAccess> use = compose(alias, given), mapped;
    std::vector<ExprPtr> in, out;
    bool drops_interval = false;
    for (size_t d = 0; d < access_.size(); ++d) {
      const WindowAccess &a = access_[d], &u = use[d];
      ExprPtr a_end = a.is_point() ? fold(a.lo + int_const(1)) : a.hi;
      ExprPtr u_end = u.is_point() ? fold(u.lo + int_const(1)) : u.hi;
      in.push_back(bin_op(BinOpKind::kLe, a.lo, u.lo));
      in.push_back(bin_op(BinOpKind::kLe, u_end, a_end));
      out.push_back(bin_op(BinOpKind::kLe, u_end, a.lo));
      out.push_back(bin_op(BinOpKind::kLe, a_end, u.lo));
      // A window use that keeps the dimension cannot be one of the copy, which has lost it.
      if (a.is_point()) {
        drops_interval |= !u.is_point();
        continue;
      }
      mapped.push_back({fold(u.lo - a.lo), u.is_point() ? nullptr : fold(u.hi - a.lo)});
    }
    if (place(in, out, at) == Place::kOutside) return std::nullopt;
    if (drops_interval)
      refuse(kStageMem,
             "a window of `" + root_.name() + "` keeps a dimension that the staged window drops");
    return WindowUse{tmp, mapped};
  }

  // for i0..: for i1..: tmp[i0, i1] (=) root[lo0 + i0, lo1 + i1], guarded where the window may
  // leave the buffer.
  StmtPtr copy(
      const std::function<StmtPtr(std::vector<ExprPtr> tmp, std::vector<ExprPtr> root)>& make,
      bool touches_root = true) const {
    std::vector<Sym> iters;
    // One loop per interval; a point is read at its place. Guards only for the ends that are not
    // proved.
    std::vector<ExprPtr> tmp_idx, root_idx, guards;
    for (size_t d = 0; d < access_.size(); ++d) {
      const WindowAccess& a = access_[d];
      ExprPtr at = a.lo;
      if (!a.is_point()) {
        iters.push_back(Sym::fresh("i" + std::to_string(iters.size())));
        tmp_idx.push_back(read_var(iters.back(), ScalarType::kIndex));
        at = fold(a.lo + tmp_idx.back());
      }
      root_idx.push_back(at);
      // Filling the copy with a neutral element reads nothing, so that nothing can leave the
      // buffer.
      if (!touches_root) continue;
      ExprPtr last = a.is_point() ? a.lo : fold(a.hi - int_const(1));
      ExprPtr low = bin_op(BinOpKind::kLe, int_const(0), a.lo),
              high = bin_op(BinOpKind::kLt, last, shape_[d]);
      if (!prove(p_, first_, low)) guards.push_back(bin_op(BinOpKind::kLe, int_const(0), at));
      if (!prove(p_, first_, high)) guards.push_back(bin_op(BinOpKind::kLt, at, shape_[d]));
    }
    StmtPtr s = make(tmp_idx, root_idx);
    if (!guards.empty()) s = make_if(conjunction(guards), {s});
    std::vector<ExprPtr> sizes = tmp_shape();
    // From inside out: the last dimension becomes the innermost loop, which runs along memory.
    for (size_t k = iters.size(); k-- > 0;) s = make_for(iters[k], int_const(0), sizes[k], {s});
    return s;
  }

 private:
  bool provably_outside(const Access& a) const {
    std::vector<ExprPtr> in;
    ExprPtr any;
    for (size_t d = 0; d < access_.size(); ++d) {
      const WindowAccess& w = access_[d];
      if (w.is_point() && affine_equal(w.lo, a.idx[d])) continue;
      ExprPtr end = w.is_point() ? fold(w.lo + int_const(1)) : w.hi;
      ExprPtr below = bin_op(BinOpKind::kLt, a.idx[d], w.lo),
              above = bin_op(BinOpKind::kGe, a.idx[d], end);
      in.push_back(bin_op(BinOpKind::kLe, w.lo, a.idx[d]));
      in.push_back(bin_op(BinOpKind::kLt, a.idx[d], end));
      any = any ? bin_op(BinOpKind::kOr, any, bin_op(BinOpKind::kOr, below, above))
                : bin_op(BinOpKind::kOr, below, above);
    }
    // No interval and every point equal: this is the element itself.
    if (!any) return false;
    // The usual access is inside, which is the cheaper question.
    if (prove_for_all(p_, first_, a.vars, a.conditions, conjunction(in))) return false;
    return static_cast<bool>(prove_for_all(p_, first_, a.vars, a.conditions, any));
  }

  Place place(const std::vector<ExprPtr>& in, const std::vector<ExprPtr>& out,
              const Path& at) const {
    if (in.empty()) return Place::kInside;
    Answer inside = prove(p_, at, conjunction(in));
    if (inside) return Place::kInside;
    ExprPtr any;
    for (const ExprPtr& c : out) any = any ? bin_op(BinOpKind::kOr, any, c) : c;
    // Outside is the disjunction: below or above in one dimension is enough.
    if (any && prove(p_, at, any)) return Place::kOutside;
    require(inside, kStageMem,
            "an access to `" + root_.name() + "` is neither proved inside the window nor outside");
    return Place::kInside;
  }

  // Does this write, over its loops, reach every element of the window for sure? Per interval its
  // offset must be a sum of c*v whose digits v count through the whole interval.
  bool covers(const Access& w) const {
    // A write under a condition may not happen; of a call's write only its window is known.
    if (!w.conditions.empty() || w.whole_window) return false;
    std::set<Sym> used;
    for (size_t d = 0; d < access_.size(); ++d) {
      const WindowAccess& a = access_[d];
      if (a.is_point()) {
        if (!affine_equal(w.idx[d], a.lo) &&
            !prove_for_all(p_, first_, w.vars, {}, bin_op(BinOpKind::kEq, w.idx[d], a.lo)))
          return false;
        continue;
      }
      auto offset = affine(w.idx[d] - a.lo);
      if (!offset || !counts_through(*offset, extent(a), w.vars, used)) return false;
    }
    // Loops that no index uses must run at least once.
    for (const RangedVar& v : w.vars) {
      if (depends_on_vars(v.lo, w.vars) || depends_on_vars(v.hi, w.vars)) return false;
      if (!used.count(v.var) && !prove(p_, first_, bin_op(BinOpKind::kLt, v.lo, v.hi)))
        return false;
    }
    return true;
  }

  static bool depends_on_vars(const ExprPtr& e, const std::vector<RangedVar>& vars) {
    for (const RangedVar& v : vars)
      if (mentions(e, v.var)) return true;
    return false;
  }

  // With v0 in [0, 4) and v1 in [0, 8): 4 * v1 + v0 runs through 0..31, each once. `used`: a
  // variable counts in one dimension only.
  bool counts_through(const Affine& offset, const ExprPtr& size, const std::vector<RangedVar>& vars,
                      std::set<Sym>& used) const {
    struct Digit {
      int64_t scale;
      const RangedVar* var;
    };
    std::vector<Digit> digits;
    Affine rest = offset;
    for (const RangedVar& v : vars) {
      int64_t c = offset.coeff_of(v.var);
      if (c == 0) continue;
      if (c < 0 || !used.insert(v.var).second) return false;
      digits.push_back({c, &v});
      // Digits count from their lower bound.
      auto base = affine(v.lo);
      auto self = affine(read_var(v.var, ScalarType::kIndex));
      if (!base || !self) return false;
      // What is left when every digit stands at its lower bound must be nothing: the count starts
      // at 0.
      rest = rest - self->scaled(c) + base->scaled(c);
    }
    if (!(rest == Affine{})) return false;
    std::sort(digits.begin(), digits.end(),
              [](const Digit& a, const Digit& b) { return a.scale < b.scale; });
    // How far the digits so far count: the next one's scale has to be just that, or places are
    // left out.
    ExprPtr reach = int_const(1);
    for (const Digit& g : digits) {
      auto so_far = as_int(fold(reach));
      if (!so_far || *so_far != g.scale) return false;
      reach = fold(int_const(g.scale) * fold(g.var->hi - g.var->lo));
    }
    return affine_equal(reach, size) || prove_equal(p_, first_, reach, size);
  }

  // Every read of the window comes after this write has written what is read: either after the
  // whole statement of the block that holds the write, or, in the same iteration of all the write's
  // loops, after it and at the same element.
  bool precedes_all(const Access& w) const {
    // Index of the statements of the block in each access's path.
    size_t depth = first_.size();
    for (const Access& r : accesses_) {
      if (&r == &w || r.kind == Access::Kind::kWrite) continue;
      // In a later statement of the block: after all iterations of the write.
      if (r.stmt[depth - 1].index > w.stmt[depth - 1].index) continue;
      if (r.stmt[depth - 1].index < w.stmt[depth - 1].index || r.stmt == w.stmt) return false;
      // Loops of the block around the write, all of which the read must share and none of which
      // may be a loop of the read alone above the write.
      size_t loops = enclosing_loops(p_, w.stmt).size() - enclosing_loops(p_, first_).size();
      if (loops != w.vars.size() || r.vars.size() < loops) return false;
      Path w_block = parent_stmt(w.stmt);
      bool same_block = is_prefix(w_block, r.stmt) && r.stmt.size() >= w.stmt.size() &&
                        r.stmt[w.stmt.size() - 1].child == w.stmt.back().child &&
                        r.stmt[w.stmt.size() - 1].index > w.stmt.back().index;
      if (!same_block) return false;
      for (size_t d = 0; d < access_.size(); ++d)
        if (!affine_equal(r.idx[d], w.idx[d])) return false;
    }
    return true;
  }

  const Proc& p_;
  Path first_;
  int n_;
  Sym root_;
  ScalarType scalar_;
  std::vector<ExprPtr> shape_;
  std::vector<WindowAccess> access_;
  std::vector<Access> accesses_;  // of the window; those provably outside left out
};

// A loop of the block each of whose iterations gets a copy of its own: a dimension of the copy.
struct PrivateLoop {
  Path path;
  Sym iter;
  ExprPtr lo, extent;
  ExprPtr place_of(const ExprPtr& i) const { return is_literal(lo, 0) ? i : fold(i - lo); }
};

std::vector<PrivateLoop> private_loops(const ProcPtr& p, const Cursor& block,
                                       const std::vector<Where>& per) {
  std::vector<PrivateLoop> out;
  for (const Where& where : per) {
    const Cursor c = where.loop(p);
    const For& f = c.as<For>();
    const Path &at = c.path(), &first = block.path();
    // Which statement of the block the loop lies in, -1 where in none.
    const int k = at.size() < first.size() ? -1 : at[first.size() - 1].index - first.back().index;
    const bool inside = k >= 0 && k < block.length() && is_prefix(sibling(first, k), at);
    if (!inside) refuse(kStageMem, "the loop over '" + f.iter.name() + "' is not in the block");
    PrivateLoop loop{at, f.iter, f.lo, trip_count(f)};
    for (const ExprPtr& e : {loop.lo, loop.extent}) {
      // The copy's extent is evaluated before the block.
      if (!in_scope(*p, first, e) || reads_config(e))
        refuse(kStageMem, "the bounds of '" + f.iter.name() + "' are not known before the block");
    }
    require(prove(*p, first, bin_op(BinOpKind::kGt, loop.extent, int_const(0))), kStageMem,
            "the loop over '" + f.iter.name() + "' is not proved to run");
    out.push_back(std::move(loop));
  }
  return out;
}

}  // namespace

ProcPtr stage_mem(ProcPtr p, const Where& where, const std::string& window, const std::string& name,
                  bool accum, const std::vector<Where>& per) {
  Cursor block = where.block(p);
  Stage stage(p, block, window);
  const std::vector<PrivateLoop> copies = private_loops(p, block, per);
  if (!copies.empty() && !accum)
    refuse(kStageMem, "only sums and maxima have copies per iteration");
  const Path& first = block.path();
  const int n = block.length();
  const Block& all = block_at(*p, first);
  Block inner(all.begin() + first.back().index, all.begin() + first.back().index + n);
  Block after(all.begin() + first.back().index + n, all.end());

  const std::optional<ReduceOp> reduction = accum ? stage.only_reduction() : std::nullopt;
  if (accum && !reduction)
    refuse(kStageMem, "the block does more than add into `" + stage.root().name() + "`");
  const bool from_zero = reduction == ReduceOp::kAdd;
  bool load = accum ? !from_zero : !stage.written_first();
  bool store = stage.is_written();

  // Names that reach the buffer from outside the block: the root and windows made before.
  Sym tmp = Sym::fresh(name);
  std::vector<ExprPtr> tmp_shape = stage.tmp_shape(), own_place;  // of one iteration's copy
  for (const PrivateLoop& l : copies) {
    tmp_shape.push_back(l.extent);
    own_place.push_back(l.place_of(read_var(l.iter, ScalarType::kIndex)));
  }
  auto require_inside = [&](const Path& at) {
    for (const PrivateLoop& l : copies)
      if (!is_prefix(l.path, at))
        refuse(kStageMem, "`" + stage.root().name() + "` is used outside of the loop over '" +
                              l.iter.name() + "'");
  };
  Block staged = inner;
  for (const ScopeEntry& e : scope_at(*p, first)) {
    if (!is_data(e.type.scalar)) continue;
    auto alias = resolve_alias(*p, first, e.name);
    if (!alias || alias->root != stage.root()) continue;
    UseMap map;
    map.op = kStageMem;
    map.buffer = e.name;
    map.shape = e.type.shape;
    map.shape_of = [&, shape = e.type.shape](Sym s) { return s == tmp ? tmp_shape : shape; };
    map.element = [&](const std::vector<ExprPtr>& idx, const Path& at) {
      std::optional<ElementUse> use = stage.element(*alias, idx, at, tmp);
      if (use) require_inside(at);
      if (use) use->idx.insert(use->idx.end(), own_place.begin(), own_place.end());
      return use;
    };
    map.window = [&](const std::vector<WindowAccess>& access, const Path& at) {
      std::optional<WindowUse> use = stage.window(*alias, access, at, tmp);
      if (use) require_inside(at);
      for (size_t k = 0; use && k < own_place.size(); ++k)
        use->access.push_back({own_place[k], nullptr});
      return use;
    };
    staged = map_uses(staged, first, map);
  }
  std::set<Sym> tmp_names = aliases_in(staged, {tmp});
  for (const StmtPtr& s : staged) {
    Sym bound = bound_symbol(*s);
    if (bound.valid() && bound != tmp && tmp_names.count(bound) && mentions(after, bound))
      refuse(kStageMem, "the window `" + bound.name() + "`, made in the block, is used after it");
  }

  Type tmp_type{stage.scalar(), tmp_shape, false};
  ExprPtr zero = data_const(0, stage.scalar());
  auto root_read = [&](const std::vector<ExprPtr>& idx) {
    return read_elem(stage.root(), idx, stage.scalar());
  };
  auto tmp_read = [&](const std::vector<ExprPtr>& idx) {
    return read_elem(tmp, idx, stage.scalar());
  };
  using Idx = std::vector<ExprPtr>;
  // The copy loops, innermost those over iterations that have a copy of their own.
  auto copy = [&](const std::function<StmtPtr(Idx tmp, Idx root)>& make, bool touches_root = true) {
    std::vector<Sym> iters;
    for (const PrivateLoop& l : copies) iters.push_back(l.iter.copy());
    return stage.copy(
        [&](Idx t, Idx r) {
          for (Sym i : iters) t.push_back(read_var(i, ScalarType::kIndex));
          StmtPtr s = make(std::move(t), std::move(r));
          for (size_t k = copies.size(); k-- > 0;)
            s = make_for(iters[k], int_const(0), copies[k].extent, {s});
          return s;
        },
        touches_root);
  };

  Rewrite rw(p);
  rw.map_in_place(splice(*p, first, n, staged));
  if (store) {
    rw.insert(sibling(first, n), {copy([&](Idx t, Idx r) {
                return accum ? make_reduce(stage.root(), r, tmp_read(t), *reduction)
                             : make_assign(stage.root(), r, tmp_read(t));
              })});
  }
  Block before{make_alloc(tmp, tmp_type, dram())};
  if (load) before.push_back(copy([&](Idx t, Idx r) { return make_assign(tmp, t, root_read(r)); }));
  if (from_zero)
    before.push_back(copy([&](Idx t, Idx) { return make_assign(tmp, t, zero); }, false));
  const int ahead = static_cast<int>(before.size());
  rw.insert(first, std::move(before));

  require_calls(rw.proc(), sibling(first, ahead), n, tmp_names, kStageMem);
  require_parallel_loops(rw.proc(), first, kStageMem);
  rw.flags.reassociates = from_zero;
  std::vector<Value> args{internal::place(where, block), window, name};
  if (accum) {
    std::map<std::string, Value> named{{"accum", Value(true)}};
    ValueList loops;
    for (const PrivateLoop& l : copies) loops.emplace_back(Cursor::stmt(p, l.path));
    if (!loops.empty()) named.emplace("per", std::move(loops));
    args.emplace_back(std::move(named));
  }
  require_config_writes_fixed(rw.proc(), kStageMem);
  return rw.finish(kStageMem, std::move(args));
}

// Made of primitives: a loop that runs from 0 has no rows before it in its first iteration.
ProcPtr stage_mem_if_any(ProcPtr p, const Where& where, const std::string& window,
                         const std::string& name, bool accum, const std::vector<Where>& per) {
  const Cursor block = where.block(p);
  const ExprPtr parsed = parse_window_at(*p, block.path(), window);
  ExprPtr any;
  if (const WindowExpr* w = parsed->as<WindowExpr>())
    for (const WindowAccess& a : w->access) {
      if (a.is_point()) continue;
      const ExprPtr some = bin_op(BinOpKind::kLt, a.lo, a.hi);
      if (prove(*p, block.path(), some)) continue;
      any = any ? bin_op(BinOpKind::kAnd, any, some) : some;
    }
  if (!any) return stage_mem(p, where, window, name, accum, per);
  p = specialize(p, block, {any});
  Path first = block.path();
  first.push_back({Child::kBody, 0});
  return stage_mem(p, Cursor::block(p, first, block.length()), window, name, accum, per);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> stage_operators() {
  using namespace params;
  return {
      {"stage_mem",
       {proc(), place("block"), string("win_expr"), new_name("new_buf_name"),
        boolean("accum", false), places("per", ValueList{})},
       "s(x[lo + i])  ->  t : T[hi - lo]; t = x[lo:hi]; s(t[i]); x[lo:hi] = t   (accum: t = 0; "
       "s(t[i]); x += t; per: a copy for each iteration of these loops)",
       [](const OperatorArgs& a) -> Value {
         return stage_mem_if_any(a.proc(), a.where(1), a.string(2), a.string(3), a.boolean(4),
                                 a.places(5));
       }},
  };
}

}  // namespace exotune
