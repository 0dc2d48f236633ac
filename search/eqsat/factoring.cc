#include "search/eqsat/factoring.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/cursor/cursor.h"
#include "core/ir/printer.h"
#include "core/primitives/factor.h"
#include "core/primitives/primitives.h"

namespace exotune::eqsat {
namespace {

constexpr size_t kFewest = 2, kMost = 8;  // factors

bool mentions_symbol(const ExprPtr& e, Sym name) {
  if (const Read* r = e->as<Read>(); r && r->name == name) return true;
  const std::vector<ExprPtr> inside = expr_children(*e);
  return std::any_of(inside.begin(), inside.end(),
                     [&](const ExprPtr& c) { return mentions_symbol(c, name); });
}

bool collect(const ExprPtr& e, std::vector<ExprPtr>& factors) {
  if (const BinOp* b = e->as<BinOp>(); b && b->op == BinOpKind::kMul)
    return collect(b->lhs, factors) && collect(b->rhs, factors);
  factors.push_back(e);
  const Read* r = e->as<Read>();
  return r && !r->idx.empty();
}

std::optional<SumOfFactors> lift(const Proc& p, const Path& path) {
  const StmtPtr s = stmt_at(p, path);
  const Reduce* r = s->as<Reduce>();
  std::vector<ExprPtr> factors;
  if (!r || r->op != ReduceOp::kAdd || !collect(r->rhs, factors)) return std::nullopt;
  if (factors.size() < kFewest || factors.size() > kMost) return std::nullopt;
  SumOfFactors sum;
  sum.statement = path;
  for (const ExprPtr& e : factors) sum.buffers.push_back(e->as<Read>()->name.name());
  for (size_t k = 0; k < factors.size(); ++k) {
    const bool alone = std::count(sum.buffers.begin(), sum.buffers.end(), sum.buffers[k]) == 1;
    const std::string name = alone ? sum.buffers[k] : str(factors[k]);
    if (std::count(sum.factors.begin(), sum.factors.end(), name) > 0) return std::nullopt;
    sum.factors.push_back(name);
  }
  sum.indices.resize(factors.size());
  // As far out as each loop holds the next one alone.
  size_t first = path.size();
  while (first > 1) {
    const Path outer(path.begin(), path.begin() + static_cast<long>(first) - 1);
    const For* f = stmt_at(p, outer)->as<For>();
    if (!f || f->body.size() != 1) break;
    --first;
  }
  for (size_t n = first; n < path.size(); ++n) {
    const StmtPtr loop = stmt_at(p, Path(path.begin(), path.begin() + static_cast<long>(n)));
    const For* f = loop->as<For>();
    const uint64_t bit = uint64_t{1} << sum.loops.size();
    sum.loops.push_back(f->iter.name());
    sum.extents.push_back(f->hi);
    for (size_t k = 0; k < factors.size(); ++k)
      if (mentions_symbol(factors[k], f->iter)) sum.indices[k] |= bit;
    for (const ExprPtr& e : r->idx)
      if (mentions_symbol(e, f->iter)) sum.output |= bit;
    if (!r->idx.empty() && mentions_symbol(r->idx.back(), f->iter))
      sum.last = static_cast<int>(sum.loops.size()) - 1;
  }
  if (sum.loops.empty() || sum.loops.size() > 60) return std::nullopt;
  if (factors.size() == 2 && sum.own(0) == 0 && sum.own(1) == 0) return std::nullopt;
  sum.nest = Path(path.begin(), path.begin() + static_cast<long>(first));
  return sum;
}

}  // namespace

uint64_t SumOfFactors::own(size_t factor) const {
  uint64_t others = output;
  for (size_t k = 0; k < indices.size(); ++k)
    if (k != factor) others |= indices[k];
  return indices[factor] & ~others;
}

std::vector<SumOfFactors> lift_sums(const Proc& p) {
  std::vector<SumOfFactors> all;
  for (const Path& path : all_stmt_paths(p))
    if (auto sum = lift(p, path)) all.push_back(*std::move(sum));
  return all;
}

std::optional<Contraction> contraction_of(const SumOfFactors& sum,
                                          const std::map<std::string, int64_t>& sizes) {
  Contraction c{sum.indices, sum.output, {}};
  for (const ExprPtr& e : sum.extents) {
    if (const auto number = as_int(e)) {
      c.extents.push_back(static_cast<double>(*number));
      continue;
    }
    const Read* r = e->as<Read>();
    const auto it = r ? sizes.find(r->name.name()) : sizes.end();
    if (it == sizes.end()) return std::nullopt;
    c.extents.push_back(static_cast<double>(it->second));
  }
  return c;
}

namespace {

// A factor or a product of some: the name of the array that it is or becomes, and what the nest has
// of it.
struct Side {
  std::string name, read;
};
// Each product but the last, inner ones first; of a sum of one factor the right side is empty.
struct Step {
  std::string name;
  Side left, right;
};
std::vector<Step> steps_of(const SumOfFactors& sum, const ContractionTree& tree) {
  std::vector<Step> steps;
  std::vector<Side> sides;
  const auto sum_ahead = [&](const std::string& name, const Side& left, const Side& right) {
    steps.push_back({name, left, right});
    sides.push_back({name, name});
  };
  for (const ContractionTree::Node& node : tree.nodes) {
    if (node.factor < 0) {
      const Side left = sides[static_cast<size_t>(node.left)];
      const Side right = sides[static_cast<size_t>(node.right)];
      sum_ahead(left.name + "_" + right.name, left, right);
      continue;
    }
    const auto k = static_cast<size_t>(node.factor);
    const Side factor = {sum.buffers[k], sum.factors[k]};
    if (sum.own(k) == 0)
      sides.push_back(factor);
    else
      sum_ahead(factor.name + "_sum", factor, {});
  }
  // The last one is what the nest itself does.
  if (!steps.empty()) steps.pop_back();
  return steps;
}

}  // namespace

std::string text_of(const SumOfFactors& sum, const ContractionTree& tree) {
  std::string text;
  for (const Step& step : steps_of(sum, tree))
    text += (text.empty() ? "" : ", ") + step.name + " = sum of " + step.left.read +
            (step.right.read.empty() ? "" : " * " + step.right.read);
  return text;
}

ProcPtr factor(const ProcPtr& p, const SumOfFactors& sum, const ContractionTree& tree) {
  const Cursor nest = Cursor::stmt(p, sum.nest);
  ProcPtr now = p;
  for (const Step& step : steps_of(sum, tree))
    now = factor_sum(now, forward(now, nest), step.name,
                     step.right.read.empty()
                         ? std::vector<std::string>{step.left.read}
                         : std::vector<std::string>{step.left.read, step.right.read});
  return now;
}

}  // namespace exotune::eqsat
