// stage_view: a buffer that rearranges, overlaps or pads what it is taken from (im2col).
#include <cstdlib>
#include <limits>

#include "core/frontend/parser.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kView = "stage_view";

// A dimension of the view, with the symbol that the element's formula names it by.
struct Axis {
  Sym name;
  ExprPtr extent;
};

// The map from view indices to elements of the root buffer, and its inverse at a given use.
class View {
 public:
  View(const ProcPtr& p, const Path& first, const std::vector<ViewAxis>& axes,
       const std::string& element, const std::string& condition)
      : p_(*p), first_(first) {
    std::vector<ScopeEntry> scope = scope_at(p_, first_);
    for (const ViewAxis& a : axes) {
      require_name(kView, a.name);
      Axis axis{Sym::fresh(a.name), parse_expr_at(p, first_, a.extent)};
      for (const Axis& other : axes_)
        if (other.name.name() == a.name) refuse(kView, "the axis `" + a.name + "` is given twice");
      if (reads_config(axis.extent)) refuse(kView, "`" + a.extent + "` reads configuration state");
      // C has no arrays of no elements.
      require(prove(p_, first_, bin_op(BinOpKind::kGt, axis.extent, int_const(0))), kView,
              "the extent `" + a.extent + "` is not proved positive");
      axes_.push_back(axis);
    }
    if (axes_.empty()) refuse(kView, "a view needs at least one axis");
    // The view's own names come first: they hide what else is visible under the same name.
    for (auto a = axes_.rbegin(); a != axes_.rend(); ++a)
      scope.insert(scope.begin(), {a->name, Type{ScalarType::kIndex, {}, false}, nullptr, nullptr});
    source_ = parse_expr(element, scope);
    // The formula is one access: what is computed from several elements is no view.
    const Read* r = source_->as<Read>();
    auto entry = r ? lookup(p_, first_, r->name) : std::nullopt;
    if (!r || r->idx.empty() || !entry || !is_data(entry->type.scalar))
      refuse(kView, "`" + element + "` is no element of a buffer");
    alias_ = *resolve_alias(p_, first_, r->name);
    shape_ = entry->type.shape;
    index_ = r->idx;
    condition_ = condition.empty() ? bool_const(true) : parse_control_expr(condition, scope);
    if (condition_->type != ScalarType::kBool) refuse(kView, "`" + condition + "` is no condition");
    if (reads_config(condition_)) refuse(kView, "`" + condition + "` reads configuration state");
    for (const ExprPtr& i : index_)
      if (reads_config(i)) refuse(kView, "`" + element + "` reads configuration state");
    std::vector<ExprPtr> inside;
    for (size_t d = 0; d < shape_.size(); ++d) {
      inside.push_back(bin_op(BinOpKind::kLe, int_const(0), index_[d]));
      inside.push_back(bin_op(BinOpKind::kLt, index_[d], shape_[d]));
    }
    // For all indices of the view for which the condition holds, the element has to exist.
    std::vector<RangedVar> ranges;
    for (const Axis& a : axes_) ranges.push_back({a.name, int_const(0), a.extent});
    Answer within = prove_for_all(p_, first_, ranges, {condition_}, conjunction(inside));
    if (!within) {
      throw SchedulingError(std::string(kView) + ": `" + element + "` may leave its buffer",
                            within.notes(), "say with `where` for which indices it exists");
    }
  }

  Sym root() const { return alias_.root; }
  ScalarType scalar() const { return source_->type; }
  std::vector<ExprPtr> shape() const {
    std::vector<ExprPtr> out;
    for (const Axis& a : axes_) out.push_back(a.extent);
    return out;
  }

  // for axes: if condition: view[axes] = source else: view[axes] = otherwise
  StmtPtr fill(Sym view, double otherwise) const {
    std::vector<ExprPtr> at;
    for (const Axis& a : axes_) at.push_back(read_var(a.name, ScalarType::kIndex));
    StmtPtr s = make_assign(view, at, source_);
    const Const* c = condition_->as<Const>();
    // A condition that is always true was folded to a constant.
    if (!c) s = make_if(condition_, {s}, {make_assign(view, at, data_const(otherwise, scalar()))});
    for (size_t k = axes_.size(); k-- > 0;)
      s = make_for(axes_[k].name, int_const(0), axes_[k].extent, {s});
    return refresh_binders({s})[0];
  }

  // The view's indices whose element is root[idx] for sure, when control is at `at`.
  std::optional<std::vector<ExprPtr>> inverse(const std::vector<ExprPtr>& idx,
                                              const Path& at) const {
    std::map<Sym, ExprPtr> solved;
    std::vector<ExprPtr> iterators;
    for (const ScopeEntry& e : scope_at(p_, at))
      if (e.type.scalar == ScalarType::kIndex)
        iterators.push_back(read_var(e.name, ScalarType::kIndex));
    int budget = 64;
    return search(compose(alias_, index_), idx, at, iterators, solved, budget);
  }

 private:
  using Solved = std::map<Sym, ExprPtr>;
  using Index = std::vector<ExprPtr>;

  static ExprPtr apply(ExprPtr e, const Solved& solved) {
    for (const auto& [name, value] : solved) e = substitute(e, name, value);
    return e;
  }

  std::optional<Index> search(const Index& map, const Index& idx, const Path& at,
                              const Index& iterators, Solved solved, int& budget) const {
    if (--budget < 0 || !propagate(map, idx, solved)) return std::nullopt;
    if (solved.size() == axes_.size()) return verified(map, idx, at, solved);
    // Try the iterators that stand where an axis stands, one of the same name first. What the other
    // axes are follows more often from one than from another: 8 * s + t from t.
    for (const Axis& open : axes_) {
      if (solved.count(open.name)) continue;
      for (bool same_name : {true, false})
        for (const ExprPtr& i : iterators) {
          if ((i->as<Read>()->name.name() == open.name.name()) != same_name) continue;
          if (!plausible(map, idx, open, i, solved)) continue;
          Solved next = solved;
          next[open.name] = i;
          if (auto found = search(map, idx, at, iterators, next, budget)) return found;
        }
    }
    return std::nullopt;
  }

  static bool plausible(const Index& map, const Index& idx, const Axis& axis, const ExprPtr& i,
                        const Solved& solved) {
    for (size_t d = 0; d < map.size(); ++d) {
      auto m = affine(apply(map[d], solved)), e = affine(idx[d]);
      if (!m || !e) continue;
      if (int64_t c = m->coeff_of(axis.name); c != 0 && c != e->coeff_of(i->as<Read>()->name))
        return false;
    }
    return true;
  }

  // Nothing: a remainder is left.
  static std::optional<Affine> divided(const Affine& a, int64_t by) {
    if (by == std::numeric_limits<int64_t>::min()) return std::nullopt;
    Affine out = a.scaled(by < 0 ? -1 : 1);
    by = std::abs(by);
    if (out.constant % by != 0) return std::nullopt;
    out.constant /= by;
    for (Affine::Term& t : out.terms) {
      if (t.coeff % by != 0) return std::nullopt;
      t.coeff /= by;
    }
    return out;
  }

  // Dimensions with one open axis give that axis, where its coefficient divides the rest. False on
  // a contradiction.
  bool propagate(const Index& map, const Index& idx, Solved& solved) const {
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t d = 0; d < map.size(); ++d) {
        auto m = affine(apply(map[d], solved)), e = affine(idx[d]);
        if (!m || !e) continue;
        const Axis* open = nullptr;
        int count = 0;
        for (const Axis& a : axes_)
          if (!solved.count(a.name) && mentions(to_expr(*m), a.name)) open = &a, ++count;
        if (count == 0) {
          Affine rest = *m - *e;
          if (rest.terms.empty() && rest.constant != 0) return false;
        }
        if (count != 1) continue;
        int64_t c = m->coeff_of(open->name);
        if (c == 0) continue;
        auto self = affine(read_var(open->name, ScalarType::kIndex));
        const std::optional<Affine> value = divided(*e - (*m - self->scaled(c)), c);
        if (!value || mentions(to_expr(*value), open->name)) continue;
        solved[open->name] = to_expr(*value);
        progress = true;
      }
    }
    return true;
  }

  std::optional<Index> verified(const Index& map, const Index& idx, const Path& at,
                                const Solved& solved) const {
    std::vector<ExprPtr> facts;
    Index out;
    for (const Axis& a : axes_) {
      const ExprPtr& v = solved.at(a.name);
      facts.push_back(bin_op(BinOpKind::kLe, int_const(0), v));
      facts.push_back(bin_op(BinOpKind::kLt, v, a.extent));
      out.push_back(v);
    }
    for (size_t d = 0; d < map.size(); ++d) {
      ExprPtr m = apply(map[d], solved);
      if (!affine_equal(m, idx[d])) facts.push_back(bin_op(BinOpKind::kEq, m, idx[d]));
    }
    if (!condition_->as<Const>()) facts.push_back(apply(condition_, solved));
    if (!prove(p_, at, conjunction(facts))) return std::nullopt;
    return out;
  }

  const Proc& p_;
  const Path& first_;
  std::vector<Axis> axes_;
  ExprPtr source_, condition_;
  Alias alias_;
  std::vector<ExprPtr> shape_, index_;
};

}  // namespace

ProcPtr stage_view(ProcPtr p, const Where& where, const std::string& name,
                   const std::vector<ViewAxis>& axes, const std::string& element,
                   const std::string& condition, double otherwise) {
  require_name(kView, name);
  Cursor block = where.block(p);
  const Path& first = block.path();
  const int n = block.length();
  View view(p, first, axes, element, condition);
  // The view is filled once, before the block: what the block wrote it would not see.
  for (const Access& a : accesses_of(*p, first, n, view.root()))
    if (a.kind != Access::Kind::kRead)
      refuse(kView, "the block writes `" + view.root().name() + "`");
  const Block& all = block_at(*p, first);
  Block staged(all.begin() + first.back().index, all.begin() + first.back().index + n);
  Sym made = Sym::fresh(name);
  int replaced = 0;
  // The buffer may be read by its own name or through any window of it.
  for (const ScopeEntry& e : scope_at(*p, first)) {
    if (!is_data(e.type.scalar)) continue;
    auto alias = resolve_alias(*p, first, e.name);
    if (!alias || alias->root != view.root()) continue;
    UseMap map;
    map.op = kView;
    map.buffer = e.name;
    map.shape = e.type.shape;
    map.element = [&](const std::vector<ExprPtr>& idx,
                      const Path& at) -> std::optional<ElementUse> {
      auto found = view.inverse(compose(*alias, idx), at);
      if (!found) return std::nullopt;
      ++replaced;
      return ElementUse{made, *found};
    };
    map.window = [](const std::vector<WindowAccess>&, const Path&) -> std::optional<WindowUse> {
      return std::nullopt;
    };
    staged = map_uses(staged, first, map);
  }
  if (replaced == 0)
    refuse(kView, "no read of `" + view.root().name() + "` in the block is an element of the view");
  Rewrite rw(p);
  // Uses are replaced statement by statement, so that cursors into the block go on pointing there.
  rw.map_in_place(splice(*p, first, n, staged));
  rw.insert(first, {make_alloc(made, Type{view.scalar(), view.shape(), false}, dram()),
                    view.fill(made, otherwise)});
  require_parallel_loops(rw.proc(), first, kView);
  ValueList axis_values;
  for (const ViewAxis& a : axes) axis_values.push_back(ValueList{a.name, a.extent});
  std::vector<Value> args{place(where, block), name, axis_values, element};
  if (!condition.empty())
    args.push_back(std::map<std::string, Value>{{"where", condition}, {"otherwise", otherwise}});
  require_config_writes_fixed(rw.proc(), kView);
  return rw.finish(kView, std::move(args));
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

// [('j', '4'), ('r', 3)]
std::vector<ViewAxis> view_axes(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  std::vector<ViewAxis> out;
  if (list) {
    for (const Value& axis : *list) {
      const ValueList* pair = axis.as<ValueList>();
      if (!pair || pair->size() != 2 || !(*pair)[0].as<std::string>()) break;
      out.push_back({*(*pair)[0].as<std::string>(), expression_text((*pair)[1])});
    }
  }
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of axes", "axes are [('j', '4'), ('r', '3')]");
  return out;
}

// Scripts may quote a number, as Exo's examples do with -inf.
double number_of(const Value& v) {
  if (const double* d = v.as<double>()) return *d;
  if (const int64_t* k = v.as<int64_t>()) return static_cast<double>(*k);
  if (const std::string* s = v.as<std::string>()) {
    char* end = nullptr;
    double d = std::strtod(s->c_str(), &end);
    if (!s->empty() && *end == '\0') return d;
  }
  throw InputError({}, v.str() + " is no number");
}

}  // namespace

std::vector<Operator> view_operators() {
  using namespace params;
  return {
      {"stage_view",
       {proc(), place("block"), new_name("new_buf_name"), any("axes"), string("element"),
        string("where", ""), any("otherwise", Value(0.0))},
       "s(x[4 * io + i + r])  ->  t : T[4, 3]; t[i, r] = x[4 * io + i + r]; s(t[i, r])",
       [](const OperatorArgs& a) -> Value {
         return stage_view(a.proc(), a.where(1), a.string(2), view_axes(a[3]), a.string(4),
                           a.string(5), number_of(a[6]));
       }},
  };
}

}  // namespace exotune
