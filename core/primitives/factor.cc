#include "core/primitives/factor.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kFactorSum = "factor_sum";

// A nest of loops around one sum of products, and how it falls into two:
//
//   for i, j, k: x[i] += a[i, j] * b[j] * c[k]        factors b, c over k
//   ->  t[j] = sum of b[j] * c[k] over k;  for i, j: x[i] += a[i, j] * t[j]
//
// By distributivity: a loop that only the chosen factors mention can be summed over before the
// others multiply it. What they mention beside it becomes an axis of the new buffer.
class SumOfProducts {
 public:
  SumOfProducts(const ProcPtr& p, const Path& at, const std::vector<std::string>& chosen)
      : p_(p), at_(at) {
    read_loops();
    read_factors(chosen);
    choose_loops();
    require_exact();
    require_runs();
  }

  ProcPtr run(const std::string& name, std::vector<Value> args) const {
    Rewrite rw(p_);
    rw.flags.reassociates = true;
    for (size_t k = loops_.size(); k-- > 0;)
      if (summed_[k]) rw.unwrap(path_of(k));
    const Sym t = Sym::fresh(name);
    const size_t left = static_cast<size_t>(std::count(summed_.begin(), summed_.end(), false));
    Path sum = at_;
    for (size_t k = 0; k < left; ++k) sum = body_path(sum);
    rw.replace_keep(
        sum, make_reduce(sum_->name, sum_->idx, product(rest_) * read_elem(t, axes(), type_)));
    rw.insert(at_, ahead(t));
    // The fill runs for all values of its loops, the nest perhaps only for some: its reads are
    // proved anew where they stand now.
    const Path fill = fill_path();
    require(reads_in_bounds(rw.proc(), fill, stmt_at(rw.proc(), fill)->as<Reduce>()->rhs),
            kFactorSum, "the factors may read what does not exist");
    require_parallel_loops(rw.proc(), at_, kFactorSum);
    return rw.finish(kFactorSum, std::move(args));
  }

 private:
  Path path_of(size_t loop) const {
    Path path = at_;
    for (size_t k = 0; k < loop; ++k) path = body_path(path);
    return path;
  }

  void read_loops() {
    Path inner = at_;
    StmtPtr s = stmt_at(*p_, inner);
    while (const For* f = s->as<For>()) {
      const std::string name = f->iter.name();
      if (f->mode != LoopMode::kSeq) refuse(kFactorSum, "`" + name + "` is no sequential loop");
      if (f->body.size() != 1) refuse(kFactorSum, "the loops hold more than one sum");
      if (literal(f->lo) != 0) refuse(kFactorSum, "`" + name + "` does not begin at 0");
      if (reads_config(f->hi))
        refuse(kFactorSum, "the bound of `" + name + "` reads configuration");
      for (const StmtPtr& outer : loops_)
        if (mentions(f->hi, outer->as<For>()->iter))
          refuse(kFactorSum, "the bound of `" + name + "` depends on a loop around it");
      loops_.push_back(s);
      inner = body_path(inner);
      s = stmt_at(*p_, inner);
    }
    sum_path_ = inner;
    sum_stmt_ = s;
    sum_ = s->as<Reduce>();
    if (!sum_ || sum_->op != ReduceOp::kAdd) refuse(kFactorSum, "the loops hold no sum `x += ..`");
  }

  // Factors of a product in any nesting: multiplication of reals has no order.
  void collect(const ExprPtr& e, const std::vector<std::string>& chosen) {
    const BinOp* b = e->as<BinOp>();
    if (b && b->op == BinOpKind::kMul) {
      collect(b->lhs, chosen);
      collect(b->rhs, chosen);
      return;
    }
    const bool is_chosen = std::any_of(chosen.begin(), chosen.end(),
                                       [&](const std::string& name) { return is_called(e, name); });
    (is_chosen ? chosen_ : rest_).push_back(e);
  }

  // By its buffer, or by all of it.
  static bool is_called(const ExprPtr& e, const std::string& name) {
    const Read* r = e->as<Read>();
    return r && (r->name.name() == name || str(e) == name);
  }

  void read_factors(const std::vector<std::string>& chosen) {
    collect(sum_->rhs, chosen);
    for (const std::string& name : chosen)
      if (std::none_of(chosen_.begin(), chosen_.end(),
                       [&](const ExprPtr& e) { return is_called(e, name); }))
        refuse(kFactorSum, "`" + name + "` is no factor of `" + str(sum_->rhs) + "`");
    if (chosen_.empty()) refuse(kFactorSum, "no factor is named");
    if (rest_.empty()) refuse(kFactorSum, "no factor is left over");
  }

  static bool mentioned(const std::vector<ExprPtr>& in, Sym iter) {
    return std::any_of(in.begin(), in.end(), [&](const ExprPtr& e) { return mentions(e, iter); });
  }

  // Elements that lie side by side in a factor do so in what it becomes a part of.
  bool ends_a_factor(Sym iter) const {
    return std::any_of(chosen_.begin(), chosen_.end(), [&](const ExprPtr& e) {
      const Read* r = e->as<Read>();
      return !r->idx.empty() && mentions(r->idx.back(), iter);
    });
  }

  // Summed: of the chosen factors alone. Kept: of those factors and something else. The rest is
  // none of the new buffer's business. The axis along which a factor lies comes last, for vectors.
  void choose_loops() {
    for (const StmtPtr& s : loops_) {
      const Sym iter = s->as<For>()->iter;
      summed_.push_back(!mentioned(rest_, iter) && !mentioned(sum_->idx, iter));
      if (!summed_.back() && mentioned(chosen_, iter)) kept_.push_back(summed_.size() - 1);
    }
    std::stable_partition(kept_.begin(), kept_.end(),
                          [&](size_t k) { return !ends_a_factor(loops_[k]->as<For>()->iter); });
    if (std::none_of(summed_.begin(), summed_.end(), [](bool s) { return s; }))
      refuse(kFactorSum, "the other factors or the element mention every loop",
             "a loop of these factors alone is what can be summed over ahead");
  }

  // Over the reals the two are equal; nothing may be rounded or cut off on the way but in the order
  // of the sum, and no factor may change while it goes on.
  void require_exact() {
    type_ = element_type(*p_, sum_path_, sum_->name);
    if (!is_float(type_))
      refuse(kFactorSum, "`" + sum_->name.name() + "` holds no floating-point numbers");
    require_no_cast(sum_->rhs, type_, kFactorSum);
    for (const std::vector<ExprPtr>* factors : {&chosen_, &rest_})
      for (const ExprPtr& e : *factors) {
        require_no_cast(e, type_, kFactorSum);
        if (reads_buffer(*p_, sum_path_, e, sum_->name))
          refuse(kFactorSum, "`" + str(e) + "` reads what is summed into");
        if (reads_config(e)) refuse(kFactorSum, "`" + str(e) + "` reads configuration");
      }
  }

  // Sizes of the new buffer have to be positive, and a sum over nothing would be made where the
  // nest as written never ran.
  void require_runs() const {
    for (size_t k = 0; k < loops_.size(); ++k) {
      if (!summed_[k] && std::find(kept_.begin(), kept_.end(), k) == kept_.end()) continue;
      const For* f = loops_[k]->as<For>();
      require(prove(*p_, at_, less(int_const(0), f->hi)), kFactorSum,
              "`" + f->iter.name() + "` may have no iteration");
    }
  }

  static ExprPtr product(const std::vector<ExprPtr>& factors) {
    ExprPtr e = factors[0];
    for (size_t k = 1; k < factors.size(); ++k) e = e * factors[k];
    return e;
  }

  std::vector<ExprPtr> axes() const {
    std::vector<ExprPtr> out;
    for (const size_t k : kept_)
      out.push_back(read_var(loops_[k]->as<For>()->iter, ScalarType::kIndex));
    return out;
  }

  // Allocation and fill.
  Block ahead(Sym t) const {
    std::vector<ExprPtr> shape;
    for (const size_t k : kept_) shape.push_back(loops_[k]->as<For>()->hi);
    StmtPtr sum = make_reduce(t, axes(), product(chosen_));
    for (size_t k = loops_.size(); k-- > 0;)
      if (summed_[k]) sum = around(k, {sum});
    Block fill = {make_assign(t, axes(), data_const(0, type_)), sum};
    for (size_t k = kept_.size(); k-- > 0;) fill = {around(kept_[k], fill)};
    // The same loops stand in the nest still: names that are bound twice are two symbols.
    fill = refresh_binders(fill);
    fill.insert(fill.begin(), make_alloc(t, Type{type_, shape, false}, dram()));
    return fill;
  }
  StmtPtr around(size_t loop, Block body) const {
    const For* f = loops_[loop]->as<For>();
    return make_for(f->iter, int_const(0), f->hi, std::move(body));
  }

  // The sum in the fill, after the insertion.
  Path fill_path() const {
    Path path = sibling(at_, kept_.empty() ? 2 : 1);
    for (size_t k = 0; k < kept_.size(); ++k) path = body_path(path, k + 1 == kept_.size() ? 1 : 0);
    for (const bool s : summed_)
      if (s) path = body_path(path);
    return path;
  }

  const ProcPtr& p_;
  const Path at_;
  std::vector<StmtPtr> loops_;
  std::vector<bool> summed_;  // by loop: over ahead
  std::vector<size_t> kept_;  // loops that are axes of the new buffer
  Path sum_path_;
  StmtPtr sum_stmt_;
  const Reduce* sum_ = nullptr;
  std::vector<ExprPtr> chosen_, rest_;
  ScalarType type_ = ScalarType::kF32;
};

}  // namespace

ProcPtr factor_sum(ProcPtr p, const Where& nest, const std::string& name,
                   const std::vector<std::string>& factors) {
  require_name(kFactorSum, name);
  const Cursor c = nest.loop(p);
  ValueList names;
  for (const std::string& factor : factors) names.emplace_back(factor);
  const SumOfProducts sum(p, c.path(), factors);
  return sum.run(name, {place(nest, c), name, names});
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

std::vector<std::string> names_in(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  std::vector<std::string> out;
  if (list)
    for (const Value& name : *list)
      if (const std::string* text = name.as<std::string>()) out.push_back(*text);
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of names", "factors are ['B', 'C[j, k]']");
  return out;
}

}  // namespace

std::vector<Operator> factor_operators() {
  using namespace params;
  return {
      {"factor_sum",
       {proc(), place("loops"), new_name("name"), any("factors")},
       "for i: for j: for k: x[i] += a[i, j] * b[j, k] * c[k]  ->  t = sum over k of b * c; for i: "
       "for j: x[i] += a[i, j] * t[j]",
       [](const OperatorArgs& a) -> Value {
         return factor_sum(a.proc(), a.where(1), a.string(2), names_in(a[3]));
       }},
  };
}

}  // namespace exotune
