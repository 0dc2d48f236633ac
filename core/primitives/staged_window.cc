#include "core/primitives/staged_window.h"

#include <algorithm>

#include "core/frontend/parser.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"

namespace exotune::internal {

namespace {

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

bool depends_on_vars(const ExprPtr& e, const std::vector<RangedVar>& vars) {
  for (const RangedVar& v : vars)
    if (mentions(e, v.var)) return true;
  return false;
}

}  // namespace

StagedWindow::StagedWindow(const ProcPtr& p, const Cursor& block, const std::string& window)
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
  for (Access& a : accesses_of(p_, first_, n_, root_))
    if (!provably_outside(a)) accesses_.push_back(std::move(a));
  if (accesses_.empty())
    refuse(kStageMem, "the block does not use that part of `" + root_.name() + "`");
}

bool StagedWindow::is_written() const {
  for (const Access& a : accesses_)
    if (a.kind != Access::Kind::kRead) return true;
  return false;
}

std::optional<ReduceOp> StagedWindow::only_reduction() const {
  for (const Access& a : accesses_)
    if (a.kind != accesses_.front().kind) return std::nullopt;
  return reduction_of(accesses_.front().kind);
}

bool StagedWindow::written_first() const {
  std::vector<const Access*> writes;
  for (const Access& w : accesses_)
    if (w.kind == Access::Kind::kWrite) writes.push_back(&w);
  for (const Access* w : writes)
    if (covers(*w, {}) && precedes_all(*w)) return true;
  constexpr int64_t kMostComponents = 8;
  const int64_t most = std::min(kMostComponents, static_cast<int64_t>(writes.size()));
  for (size_t d = 0; d < access_.size(); ++d)
    for (int64_t of = 2; of <= most && !access_[d].is_point(); ++of) {
      std::set<int64_t> written;
      for (const Access* w : writes) {
        const std::optional<Affine> offset = affine(w->idx[d] - access_[d].lo);
        if (!offset || offset->constant < 0) continue;
        const int64_t at = offset->constant % of;
        if (!written.count(at) && covers(*w, {{d, of, at}}) && precedes_all(*w)) written.insert(at);
      }
      if (static_cast<int64_t>(written.size()) == of) return true;
    }
  return written_point_by_point(writes);
}

// The elements of a point one after the other, in several dimensions: every place of those
// dimensions by a write of its own, which goes through all of the others.
bool StagedWindow::written_point_by_point(const std::vector<const Access*>& writes) const {
  constexpr int64_t kMostPlaces = 64;
  std::vector<std::pair<size_t, int64_t>> points;  // dimensions and their literal extents
  int64_t places = 1;
  for (size_t d = 0; d < access_.size(); ++d) {
    const std::optional<int64_t> size =
        access_[d].is_point() ? std::nullopt : as_int(fold(extent(access_[d])));
    const bool named = std::any_of(writes.begin(), writes.end(), [&](const Access* w) {
      const std::optional<Affine> offset = affine(w->idx[d] - access_[d].lo);
      return offset && offset->is_constant();
    });
    if (!size || !named || *size > kMostPlaces) continue;
    points.emplace_back(d, *size);
    places *= *size;
    if (places > kMostPlaces) return false;
  }
  if (points.size() < 2) return false;  // of one dimension it is known
  std::set<std::vector<int64_t>> written;
  for (const Access* w : writes) {
    std::vector<Slice> slices;
    std::vector<int64_t> place;
    for (const auto& [d, size] : points) {
      const std::optional<Affine> offset = affine(w->idx[d] - access_[d].lo);
      if (!offset || !offset->is_constant() || offset->constant < 0 || offset->constant >= size)
        break;
      slices.push_back({d, size, offset->constant});
      place.push_back(offset->constant);
    }
    if (place.size() == points.size() && !written.count(place) && covers(*w, slices) &&
        precedes_all(*w))
      written.insert(place);
  }
  return static_cast<int64_t>(written.size()) == places;
}

std::optional<ElementUse> StagedWindow::element(const Alias& alias, const std::vector<ExprPtr>& idx,
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

std::optional<WindowUse> StagedWindow::window(const Alias& alias,
                                              const std::vector<WindowAccess>& given,
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

StmtPtr StagedWindow::copy(
    const std::function<StmtPtr(std::vector<ExprPtr> tmp, std::vector<ExprPtr> root)>& make,
    bool touches_root) const {
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

bool StagedWindow::provably_outside(const Access& a) const {
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

StagedWindow::Place StagedWindow::place(const std::vector<ExprPtr>& in,
                                        const std::vector<ExprPtr>& out, const Path& at) const {
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

// Does this write, over its loops, reach every element of the window for sure, or of the slices of
// it? Per interval its offset must be a sum of c*v whose digits v count through the whole interval.
bool StagedWindow::covers(const Access& w, const std::vector<Slice>& slices) const {
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
    if (!offset) return false;
    const auto slice = std::find_if(slices.begin(), slices.end(),
                                    [&](const Slice& s) { return s.dimension == d; });
    const bool sliced = slice != slices.end();
    if (sliced) offset->constant -= slice->at;
    if (!counts_through(*offset, extent(a), w.vars, used, sliced ? slice->of : 1)) return false;
  }
  // Loops that no index uses must run at least once.
  for (const RangedVar& v : w.vars) {
    if (depends_on_vars(v.lo, w.vars) || depends_on_vars(v.hi, w.vars)) return false;
    if (!used.count(v.var) && !prove(p_, first_, bin_op(BinOpKind::kLt, v.lo, v.hi))) return false;
  }
  return true;
}

// With v0 in [0, 4) and v1 in [0, 8): 4 * v1 + v0 runs through 0..31, each once. `used`: a
// variable counts in one dimension only. `from`: the first digit's scale, where the places between
// are others'.
bool StagedWindow::counts_through(const Affine& offset, const ExprPtr& size,
                                  const std::vector<RangedVar>& vars, std::set<Sym>& used,
                                  int64_t from) const {
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
  ExprPtr reach = int_const(from);
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
bool StagedWindow::precedes_all(const Access& w) const {
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

}  // namespace exotune::internal
