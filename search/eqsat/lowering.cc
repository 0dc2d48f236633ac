#include "search/eqsat/lowering.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/diagnostic.h"
#include "core/primitives/primitives.h"
#include "search/eqsat/extraction.h"
#include "search/eqsat/proof_forest.h"
#include "search/eqsat/rule_text.h"
#include "search/eqsat/view.h"

namespace exotune::eqsat {
namespace {

// The two operands of the only product of a term; nothing where there are more, or none.
std::optional<std::pair<int, int>> factors_of(const Term& term, const AccessLanguage& language) {
  std::optional<std::pair<int, int>> found;
  for (const Term::Node& node : term.nodes) {
    const auto kind = language.kind(node.op);
    if (kind != AccessOp::kZip && kind != AccessOp::kSystolic) continue;
    if (found) return std::nullopt;
    found = {node.children[0], node.children[1]};
  }
  return found;
}

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

  void run(const std::vector<RuleText>& texts, const std::map<std::string, int64_t>& constants,
           size_t k, const Limits& limits, CandidateReport& report) {
    std::vector<Rule> rules;
    for (const RuleText& text : texts)
      for (Rule& rule : parse_rules(text.text, text.file, types_, constants))
        rules.push_back(std::move(rule));
    report.stop = saturate(graph_, rules, limits).stop;
    report.nodes += graph_.node_count();
    report.classes += graph_.class_count();
    for (const Extracted& e : extract(graph_, root_, by_size(), k)) consider(e.term, rules, report);
  }

 private:
  void consider(const Term& term, const std::vector<Rule>& rules, CandidateReport& report) {
    const auto factors = factors_of(term, language_);
    if (!factors) {
      ++report.refused["it has several products"];
      return;
    }
    Candidate c;
    c.term = term.str(ops_);
    for (const auto& [operand, index] :
         {std::pair{&product_.left, factors->first}, {&product_.right, factors->second}}) {
      const auto map = view_map(term, index, language_);
      if (!map) {
        ++report.refused["an operand is no view of one tensor"];
        return;
      }
      if (map->is_tensor()) continue;
      auto staged = staged_view(*operand, *map);
      if (!staged) {
        ++report.refused["an operand's axes are cut"];
        return;
      }
      c.views.push_back(*std::move(staged));
    }
    if (known(c, report)) return;
    replay(c, report);
    if (!c.proc) return;
    c.rules = rules_between(term, rules);
    report.candidates.push_back(std::move(c));
  }

  static bool known(const Candidate& c, const CandidateReport& report) {
    return std::any_of(report.candidates.begin(), report.candidates.end(), [&](const Candidate& o) {
      return std::equal(o.views.begin(), o.views.end(), c.views.begin(), c.views.end(),
                        [](const StagedView& a, const StagedView& b) {
                          return a.name == b.name && a.axes == b.axes && a.element == b.element;
                        });
    });
  }

  // The loop that a variable of the operand's view is.
  int loop_of(const ProductOperand& operand, const ViewMap& map, int variable) const {
    for (size_t d = 0; d < operand.subscripts.size(); ++d) {
      const std::map<int, int64_t>& view = map.subscripts[d];
      const std::map<int, int64_t>& terms = operand.subscripts[d];
      if (!view.contains(variable) || view.size() != terms.size()) continue;
      if (view.size() == 1) return terms.begin()->first;
      // Where a window starts comes before its tap; a start is no sum.
      const bool start = view.begin()->first == variable;
      for (const auto& [loop, c] : terms)
        if (product_.loops[static_cast<size_t>(loop)].summed != start) return loop;
    }
    return -1;
  }

  std::string name_of(int loop) const {
    return product_.loops[static_cast<size_t>(loop)].iter.name();
  }

  std::optional<StagedView> staged_view(const ProductOperand& operand, const ViewMap& map) const {
    StagedView v;
    v.operand = operand.buffer.name();
    v.name = v.operand + "_view";
    for (const ViewPiece& piece : map.order()) {
      const int loop = loop_of(operand, map, piece.variable);
      if (loop < 0 || piece.divisor != 1 ||
          piece.extent != map.variables[static_cast<size_t>(piece.variable)])
        return std::nullopt;
      v.axes.push_back({name_of(loop), sizes_.str(piece.extent)});
    }
    for (const std::map<int, int64_t>& terms : operand.subscripts) {
      std::string sum;
      for (const auto& [loop, c] : terms)
        sum +=
            (sum.empty() ? "" : " + ") + (c == 1 ? "" : std::to_string(c) + " * ") + name_of(loop);
      v.element += (v.element.empty() ? "" : ", ") + sum;
    }
    v.element = v.operand + "[" + v.element + "]";
    return v;
  }

  // The copies, one after the other, in front of the loops.
  void replay(Candidate& c, CandidateReport& report) const {
    ProcPtr p = proc_;
    Cursor block = Cursor::stmt(proc_, product_.outermost);
    try {
      for (const StagedView& view : c.views) {
        std::vector<ViewAxis> axes;
        for (const auto& [name, extent] : view.axes) axes.push_back({name, extent});
        p = stage_view(p, block, view.name, axes, view.element);
      }
      c.proc = std::move(p);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
    }
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
};

}  // namespace

CandidateReport find_candidates(const ProcPtr& p, const std::vector<RuleText>& rules,
                                const std::map<std::string, int64_t>& constants, size_t k,
                                const Limits& limits) {
  CandidateReport report;
  report.candidates.push_back({{}, "", p, {}});
  SizeTable sizes;
  const LiftedProducts lifted = lift_products(*p, sizes);
  report.not_lifted = lifted.others;
  for (const Product& product : lifted.products) {
    ProductSearch search(p, product, sizes);
    if (auto why = search.start()) {
      report.not_lifted.push_back(*std::move(why));
      continue;
    }
    search.run(rules, constants, k, limits, report);
  }
  return report;
}

}  // namespace exotune::eqsat
