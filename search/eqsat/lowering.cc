#include "search/eqsat/lowering.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/extraction.h"
#include "search/eqsat/factoring.h"
#include "search/eqsat/graph_text.h"
#include "search/eqsat/proof_forest.h"
#include "search/eqsat/rule_text.h"

namespace exotune::eqsat {
namespace {

// Each node counts, so that what changes nothing is left out.
CostModel by_size() {
  return {.of = [](const EGraph&, Id, const ENode&) { return CostVector{1}; }};
}

// One product's search: term, graph, candidates' views.
class ProductSearch {
 public:
  ProductSearch(const ProcPtr& p, const Product& product, SizeTable& sizes)
      : proc_(p),
        product_(product),
        sizes_(sizes),
        language_(ops_, sizes),
        types_(language_),
        graph_(ops_, &types_, true) {}

  // Nothing, or why the product is no term.
  std::optional<NotLifted> start() {
    std::variant<Term, NotLifted> term = term_of(product_, language_);
    if (const NotLifted* why = std::get_if<NotLifted>(&term)) return *why;
    root_ = add(graph_, std::get<Term>(term));
    return std::nullopt;
  }

  std::optional<ViewFigures> figures_as_written(const std::map<std::string, int64_t>& at) const {
    Candidate c;
    describe_cost(c, at);
    return c.figures;
  }

  void run(const CandidateRequest& request, CandidateReport& report) {
    std::vector<Rule> rules;
    for (const RuleText& text : request.rules)
      for (Rule& rule : parse_rules(text.text, text.file, types_, request.constants))
        rules.push_back(std::move(rule));
    report.stop = saturate(graph_, rules, request.limits).stop;
    report.nodes += graph_.node_count();
    report.classes += graph_.class_count();
    if (request.dot) report.dot += graph_text(graph_, types_);
    for (const Extracted& e : extract(graph_, root_, by_size(), kTerms)) {
      if (found_ >= request.k) return;
      consider(e.term, rules, request, report);
    }
  }

 private:
  static constexpr size_t kTerms = 400;  // many of them say the same of the program

  void consider(const Term& term, const std::vector<Rule>& rules, const CandidateRequest& request,
                CandidateReport& report) {
    std::variant<ViewPlan, std::string> plan = plan_of(product_, term, language_, request.plan);
    if (const std::string* why = std::get_if<std::string>(&plan)) {
      ++report.refused[*why];
      return;
    }
    Candidate c;
    c.plan = std::move(std::get<ViewPlan>(plan));
    if (std::find(seen_.begin(), seen_.end(), c.plan) != seen_.end()) return;
    seen_.push_back(c.plan);
    try {
      c.proc = replay(proc_, product_, c.plan, sizes_);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
      return;
    }
    c.text = text_of(product_, c.plan);
    c.term = term.str(ops_);
    describe_cost(c, request.sizes);
    c.product = static_cast<int>(report.written.size()) - 1;
    c.rules = rules_between(term, rules);
    report.candidates.push_back(std::move(c));
    ++found_;
  }

  void describe_cost(Candidate& c, const std::map<std::string, int64_t>& at) const {
    const ViewCost cost = cost_of(product_, c.plan, sizes_);
    c.copied = sizes_.str(cost.copied);
    c.along = sizes_.str(cost.along);
    Size products = 1;
    for (const ProductLoop& loop : product_.loops) products = sizes_.mul(products, loop.extent);
    for (const std::string& name : sizes_.names(products))
      if (!at.contains(name)) return;
    const auto value = [&](Size s) { return static_cast<double>(sizes_.value(s, at)); };
    c.figures = {value(products), value(cost.copied), value(cost.along), value(cost.across)};
  }

  // Rules in the order of their use; one that follows itself is named once.
  std::vector<std::string> rules_between(const Term& term, const std::vector<Rule>& rules) {
    std::vector<std::string> names;
    const auto steps = graph_.proofs()->explain(graph_, root_, add(graph_, term), 1'000);
    if (!steps) return names;
    for (const ProofStep& step : *steps) {
      if (step.rule < 0) continue;
      const std::string& name = rules[static_cast<size_t>(step.rule)].name;
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }

  const ProcPtr& proc_;
  const Product& product_;
  SizeTable& sizes_;
  OpTable ops_;
  AccessLanguage language_;
  AccessTypes types_;
  EGraph graph_;
  Id root_ = kNoId;
  std::vector<ViewPlan> seen_{ViewPlan{}};  // as written
  size_t found_ = 0;
};

}  // namespace

namespace {

constexpr size_t kOrders = 3;  // of the factors of one sum

// The cheapest orders of three factors and more.
void add_orders(const ProcPtr& p, const SumOfFactors& sum, const CandidateRequest& request,
                CandidateReport& report) {
  const std::optional<Contraction> c = contraction_of(sum, request.sizes);
  if (!c) {
    report.not_lifted.push_back({{},
                                 "the best order of " + sum.factors.front() +
                                     " and the other factors depends on the sizes"});
    return;
  }
  double points = static_cast<double>(sum.factors.size() - 1);
  for (const double extent : c->extents) points *= extent;
  const double along = sum.last < 0 ? 1 : c->extents[static_cast<size_t>(sum.last)];
  report.written.push_back(ViewFigures{points, 0, along});
  for (const ContractionTree& tree : contraction_orders(*c, std::min(kOrders, request.k))) {
    if (tree.multiplications >= points) continue;
    Candidate out;
    try {
      out.proc = factor(p, sum, tree);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
      continue;
    }
    out.text = text_of(sum, tree);
    out.rules = {"either-order", "either-pair"};
    out.figures = ViewFigures{tree.multiplications, 0, along};
    out.product = static_cast<int>(report.written.size()) - 1;
    report.candidates.push_back(std::move(out));
  }
}

}  // namespace

CandidateReport find_candidates(const ProcPtr& p, const CandidateRequest& request) {
  CandidateReport report;
  report.candidates.push_back({.text = "as written", .proc = p});
  SizeTable sizes;
  const LiftedProducts lifted = lift_products(*p, sizes);
  report.not_lifted = lifted.others;
  for (const Product& product : lifted.products) {
    ProductSearch search(p, product, sizes);
    if (auto why = search.start()) {
      report.not_lifted.push_back(*std::move(why));
      continue;
    }
    report.written.push_back(search.figures_as_written(request.sizes));
    search.run(request, report);
  }
  for (const SumOfFactors& sum : lift_sums(*p)) add_orders(p, sum, request, report);
  return report;
}

}  // namespace exotune::eqsat
