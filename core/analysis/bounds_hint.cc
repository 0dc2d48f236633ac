// What is written where an access may be out of bounds: the condition under which all of its line
// is inside, as an `if`, a loop's bounds or an assert.
#include <algorithm>

#include "core/analysis/checker.h"
#include "core/base/words.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// `at_least_zero` >= 0, with what is subtracted on the other side: `j >= 1`, `i + 1 < N`.
ExprPtr without_minus(const ExprPtr& at_least_zero, bool upper) {
  const std::optional<Affine> all = affine(at_least_zero);
  if (!all) return bin_op(BinOpKind::kGe, at_least_zero, int_const(0));
  Affine plus, minus;
  for (const Affine::Term& t : all->terms)
    t.coeff > 0 ? plus.terms.push_back(t) : minus.terms.push_back({t.atom, -t.coeff});
  // Of integers `N >= i + 2` is `i + 1 < N`.
  const int64_t constant = all->constant + (upper ? 1 : 0);
  (constant > 0 ? plus : minus).constant = constant > 0 ? constant : -constant;
  return upper ? bin_op(BinOpKind::kLt, to_expr(minus), to_expr(plus))
               : bin_op(BinOpKind::kGe, to_expr(plus), to_expr(minus));
}

struct ElementAccess {
  Sym name;
  const std::vector<ExprPtr>* idx;
};

void elements_of(const ExprPtr& e, std::vector<ElementAccess>& into) {
  if (const Read* r = e->as<Read>(); r && !r->idx.empty()) into.push_back({r->name, &r->idx});
  for (const ExprPtr& c : expr_children(*e)) elements_of(c, into);
}

}  // namespace

// What stands on one line of the text is what a user moves: casts are statements in front of it.
bool Checker::on_one_line(const Block& block) const {
  return std::ranges::all_of(block, [&](const StmtPtr& s) {
    return s->where.known() && s->where.line == block.front()->where.line && !s->as<For>() &&
           !s->as<If>() && !s->as<Call>();
  });
}

// The bounds that are not proved of what the line of the statement at path_ accesses.
std::vector<Checker::MissingBound> Checker::missing_bounds() {
  std::vector<ElementAccess> accesses;
  const StmtPtr here = stmt_at(p_, path_);
  for (const StmtPtr& s : block_at(p_, path_)) {
    if (s->where.line != here->where.line) continue;
    const auto look = [&](Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs) {
      elements_of(rhs, accesses);
      if (!idx.empty()) accesses.push_back({name, &idx});
    };
    if (const Assign* n = s->as<Assign>()) look(n->name, n->idx, n->rhs);
    if (const Reduce* n = s->as<Reduce>()) look(n->name, n->idx, n->rhs);
  }
  std::vector<MissingBound> out;
  const auto require = [&](const ExprPtr& at_least_zero, bool upper) {
    if (problem_.entails(bin_op(BinOpKind::kGe, at_least_zero, int_const(0)))) return;
    const ExprPtr condition = without_minus(at_least_zero, upper);
    for (const MissingBound& b : out)
      if (str(b.condition) == str(condition)) return;
    out.push_back({at_least_zero, condition});
  };
  constexpr size_t kMost = 64;  // accesses of a line, each of them two questions or more
  if (accesses.size() > kMost) return out;
  for (const ElementAccess& a : accesses) {
    if (!scope_.find(a.name)) continue;
    const std::vector<ExprPtr> shape = scope_.shape_of(a.name);
    for (size_t k = 0; k < a.idx->size() && k < shape.size(); ++k) {
      require((*a.idx)[k], /*upper=*/false);
      require(shape[k] - (*a.idx)[k] - int_const(1), /*upper=*/true);
    }
  }
  return out;
}

// The bounds of the loop around the line and nothing else, so that the conditions hold in it.
std::string Checker::narrower_loop(const std::vector<MissingBound>& missing) {
  if (path_.size() < 2 || !on_one_line(block_at(p_, path_))) return "";
  const StmtPtr around = stmt_at(p_, Path(path_.begin(), path_.end() - 1));
  const For* loop = around->as<For>();
  if (!loop) return "";
  ExprPtr lo = loop->lo, hi = loop->hi;
  for (const MissingBound& b : missing) {
    const std::optional<Affine> at_least_zero = affine(b.at_least_zero);
    const int64_t steps = at_least_zero ? at_least_zero->coeff_of(loop->iter) : 0;
    if (steps != 1 && steps != -1) return "";
    const ExprPtr i = read_var(loop->iter, ScalarType::kIndex);
    ExprPtr& end = steps == 1 ? lo : hi;
    const ExprPtr other =
        normalize(steps == 1 ? i - b.at_least_zero : b.at_least_zero + i + int_const(1));
    // One bound an end, which only takes iterations away.
    const bool first = end == (steps == 1 ? loop->lo : loop->hi);
    if (!first ||
        !problem_.entails(bin_op(steps == 1 ? BinOpKind::kGe : BinOpKind::kLe, other, end)))
      return "";
    end = other;
  }
  return "for " + loop->iter.name() + (loop->mode == LoopMode::kPar ? " in par(" : " in seq(") +
         str(lo) + ", " + str(hi) + "):";
}

// `N >= 4` or `N <= K`, the weakest of its kind under which all that is missing is proved; "":
// there is none. A guard instead would leave out the line where sizes are small, in silence.
std::string Checker::sizes_that_suffice(const std::vector<MissingBound>& missing) {
  constexpr int64_t kMost = 64;  // a size that is larger for the sake of a few neighbours
  const auto enough = [&](const ExprPtr& fact) {
    const Problem::Mark before = problem_.mark();
    problem_.assume(fact);
    bool all = !problem_.entails(bool_const(false));
    for (const MissingBound& b : missing)
      all = all && static_cast<bool>(problem_.entails(b.condition));
    problem_.rollback(before);
    return all;
  };
  std::vector<ExprPtr> sizes;
  for (const Arg& a : p_.args)
    if (a.type.scalar == ScalarType::kSize) sizes.push_back(read_var(a.name, ScalarType::kSize));
  const auto at_least = [](const ExprPtr& size, int64_t n) {
    return bin_op(BinOpKind::kGe, size, int_const(n));
  };
  for (const ExprPtr& size : sizes) {
    int64_t too_few = 1, most = kMost;
    if (!enough(at_least(size, most))) continue;
    while (most - too_few > 1) {
      const int64_t middle = (most + too_few) / 2;
      (enough(at_least(size, middle)) ? most : too_few) = middle;
    }
    return str(at_least(size, most));
  }
  for (const ExprPtr& smaller : sizes)
    for (const ExprPtr& larger : sizes)
      if (const ExprPtr fact = bin_op(BinOpKind::kLe, smaller, larger);
          smaller != larger && enough(fact))
        return str(fact);
  return "";
}

std::string Checker::bounds_hint(Sym name, std::vector<ExprPtr> idx, size_t dim) {
  if (!hints_ || path_.empty()) return "";
  const std::vector<ExprPtr> shape = scope_.shape_of(name);
  const auto replaced = [&](size_t k) -> ExprPtr {
    const std::optional<int64_t> constant = as_int(normalize(idx[k]));
    if (constant && *constant < 0) return normalize(shape[k] + int_const(*constant));
    return affine_equal(idx[k], shape[k]) ? normalize(shape[k] - int_const(1)) : nullptr;
  };
  if (replaced(dim)) {
    const bool past_end = affine_equal(idx[dim], shape[dim]);
    for (size_t k = 0; k < idx.size(); ++k)
      if (const ExprPtr in_bounds = replaced(k)) idx[k] = in_bounds;
    if (!problem_.entails(bin_op(BinOpKind::kGe, idx[dim], int_const(0)))) return "";
    return (past_end ? "the last one is `" : "subscripts count from the beginning: write `") +
           str(read_elem(name, idx, ScalarType::kR)) + "`";
  }
  return bounds_hint_of(missing_bounds());
}

std::string Checker::positive_hint(const ExprPtr& size) {
  const ExprPtr below = size - int_const(1);
  return bounds_hint_of({{below, without_minus(below, /*upper=*/false)}});
}

std::string Checker::bounds_hint_of(const std::vector<MissingBound>& missing) {
  constexpr size_t kMost = 4;  // that still are a hint
  if (missing.empty() || missing.size() > kMost) return "";
  std::vector<std::string> conditions;
  bool of_arguments = true;
  const Problem::Mark before = problem_.mark();
  for (const MissingBound& b : missing) {
    conditions.push_back(str(b.condition));
    problem_.assume(b.condition);
    for (Sym i : iters_) of_arguments = of_arguments && !mentions(b.condition, i);
    of_arguments = of_arguments && config_reads(b.condition).empty();
  }
  const bool never = static_cast<bool>(problem_.entails(bool_const(false)));
  problem_.rollback(before);
  if (never) return "";
  const std::string all = joined(conditions, " and ");
  if (of_arguments) return "write `assert " + all + "` at the top of the procedure";
  const std::string sizes = sizes_that_suffice(missing);
  if (!sizes.empty())
    return "write `assert " + sizes +
           "` at the top of the procedure where that always holds, or `if " + all + ":` around it";
  const std::string loop = narrower_loop(missing);
  return "write " + (loop.empty() ? "" : "`" + loop + "`, or ") + "`if " + all + ":` around it";
}

}  // namespace exotune
