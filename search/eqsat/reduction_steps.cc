#include "search/eqsat/reduction_steps.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/extraction.h"
#include "search/eqsat/factoring.h"
#include "search/eqsat/graph_text.h"
#include "search/eqsat/pooling.h"
#include "search/eqsat/proof_forest.h"
#include "search/eqsat/rule_text.h"

namespace exotune::eqsat {
namespace {

constexpr size_t kOrders = 3;  // of the factors of one sum

// Whether a statement that has candidates here is a product of views as well is of no interest.
void forget_notes(const Proc& p, const Path& statement, CandidateReport& report) {
  const std::string here = stmt_at(p, statement)->where.str();
  std::erase_if(report.not_lifted,
                [&](const NotLifted& n) { return n.where.known() && n.where.str() == here; });
}

// Multiplications, and additions of what one factor sums alone: a vector does both at once.
double operations_of(const SumOfFactors& sum, const Contraction& c, const ContractionTree& tree) {
  double all = tree.multiplications;
  for (size_t k = 0; k < sum.factors.size(); ++k) {
    if (sum.own(k) == 0) continue;
    double points = 1;
    for (size_t i = 0; i < c.extents.size(); ++i)
      if (sum.indices[k] >> i & 1) points *= c.extents[i];
    all += points;
  }
  return all;
}

void add_orders_of(const ProcPtr& p, const SumOfFactors& sum, const CandidateRequest& request,
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
  const ContractionOrders orders = contraction_orders(*c, std::min(kOrders, request.k));
  report.nodes += orders.nodes;
  report.classes += orders.classes;
  if (orders.stop != StopReason::kSaturated) report.stop = orders.stop;
  for (const ContractionTree& tree : orders.trees) {
    const double operations = operations_of(sum, *c, tree);
    if (operations >= points) continue;
    Candidate out;
    try {
      out.proc = factor(p, sum, tree);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
      continue;
    }
    out.text = text_of(sum, tree);
    out.proof = CandidateProof::kReplay;
    out.rules = {"either-order", "either-pair"};
    out.figures = ViewFigures{operations, 0, along};
    out.product = static_cast<int>(report.written.size()) - 1;
    report.candidates.push_back(std::move(out));
    forget_notes(*p, sum.statement, report);
  }
}

// Both forms' figures: what is reduced first is stored once and read again.
void describe(const WindowFigures& f, Candidate& c, std::optional<ViewFigures>& written) {
  written = ViewFigures{f.written, 0, f.along};
  c.figures = ViewFigures{f.steps, f.stored, f.along};
}

bool is_reduction(const AccessLanguage& language, Op op) {
  const auto kind = language.kind(op);
  return kind == AccessOp::kReduceMax || kind == AccessOp::kReduceMin ||
         kind == AccessOp::kReduceSum;
}

constexpr double kNever = 1e30;  // for what the next term is to do without

// One axis at a time, the fewest reductions where sizes are known, of as many the smallest term.
// What stands innermost in terms that are known is left out, so that the next one begins with
// something else.
CostModel by_reductions(const AccessTypes& types, const std::set<Id>& known) {
  return {.of = [&types, &known](const EGraph& graph, Id id, const ENode& node) {
    constexpr double kNode = 1e-3;  // a reduction more is never worth a thousand nodes
    if (!is_reduction(types.language(), node.op)) return CostVector{kNode};
    const AccessType& of = types.of(graph, node.children[0]);
    if (of.item.size() > 1 || known.contains(graph.find(id))) return CostVector{kNever};
    double points = 1;
    for (size_t x = 0; x < of.rank(); ++x)
      points *= static_cast<double>(SizeTable::number(of.axis(x)).value_or(1));
    return CostVector{points + kNode};
  }};
}

// One reduction's search: term, graph, steps.
class WindowSearch {
 public:
  WindowSearch(const ProcPtr& p, const WindowReduction& w, const CandidateRequest& request,
               CandidateReport& report)
      : proc_(p), window_(w), request_(request), report_(report) {}

  void run() {
    const size_t place = report_.written.size();
    report_.written.emplace_back();
    const std::optional<WindowTerm> lifted = window_term(*proc_, window_, language_);
    if (!lifted) {
      report_.not_lifted.push_back({stmt_at(*proc_, window_.reduce)->where,
                                    "`" + window_.buffer + "` is read in a way that no view says"});
      return;
    }
    root_ = add(graph_, lifted->term);
    for (const RuleText& text : request_.reductions)
      for (Rule& rule : parse_rules(text.text, text.file, types_, request_.constants))
        rules_.push_back(std::move(rule));
    const StopReason stop = saturate(graph_, rules_, request_.limits).stop;
    if (stop != StopReason::kSaturated) report_.stop = stop;
    report_.nodes += graph_.node_count();
    report_.classes += graph_.class_count();
    if (request_.dot) report_.dot += graph_text(graph_, types_);
    const CostModel model = by_reductions(types_, known_);
    for (int term = 0; term < kTerms && found_.size() < request_.k; ++term) {
      const std::vector<Extracted> best = extract(graph_, root_, model, 1);
      if (best.empty() || best[0].cost[0] >= kNever) break;
      known_.insert(innermost(best[0].term));
      consider(*lifted, best[0].term, place);
    }
    // Of as many operations those first that reduce over outer directions: rows stay whole.
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      const auto key = [](const Found& f) {
        std::vector<size_t> depths;
        for (const Path& loop : f.ahead) depths.push_back(loop.size());
        return std::pair(f.candidate.figures ? f.candidate.figures->products : 0, depths);
      };
      return key(a) < key(b);
    });
    for (Found& f : found_) report_.candidates.push_back(std::move(f.candidate));
  }

 private:
  static constexpr int kTerms = 32;  // several of them do the same steps

  struct Found {
    std::vector<Path> ahead;
    Candidate candidate;
  };

  // The class of what is reduced first.
  Id innermost(const Term& term) {
    std::vector<Id> ids;
    for (const Term::Node& node : term.nodes) {
      std::vector<Id> children;
      for (const int child : node.children) children.push_back(ids[static_cast<size_t>(child)]);
      ids.push_back(graph_.add(node.op, children));
      if (is_reduction(language_, node.op)) return graph_.find(ids.back());
    }
    return kNoId;
  }

  void consider(const WindowTerm& lifted, const Term& term, size_t place) {
    const auto read = steps_of(*proc_, window_, lifted, term, language_);
    if (const std::string* why = std::get_if<std::string>(&read)) {
      ++report_.refused[*why];
      return;
    }
    const auto& ahead = std::get<std::vector<Path>>(read);
    // What is done in one step is the program as written.
    const auto same = [&](const Found& f) { return f.ahead == ahead; };
    if (ahead.empty() || std::any_of(found_.begin(), found_.end(), same)) return;
    Candidate out;
    std::vector<ProcPtr> made;
    try {
      made = in_steps(proc_, window_, ahead);
    } catch (const SchedulingError& e) {
      ++report_.refused[e.diagnostic().message.str()];
      return;
    }
    out.proc = made.back();
    out.text = text_of(*proc_, window_, ahead);
    out.term = term.str(ops_);
    out.proof = CandidateProof::kReplay;
    out.rules = rules_between(graph_, root_, add(graph_, term), rules_);
    out.product = static_cast<int>(place);
    out.in_steps = true;
    if (const auto f = figures_of(*proc_, window_, ahead, made, request_.sizes))
      describe(*f, out, report_.written[place]);
    found_.push_back({ahead, std::move(out)});
    forget_notes(*proc_, window_.reduce, report_);
  }

  const ProcPtr& proc_;
  const WindowReduction& window_;
  const CandidateRequest& request_;
  CandidateReport& report_;
  OpTable ops_;
  SizeTable sizes_;
  AccessLanguage language_{ops_, sizes_};
  AccessTypes types_{language_};
  EGraph graph_{ops_, &types_, true};
  Id root_ = kNoId;
  std::vector<Rule> rules_;
  std::set<Id> known_;
  std::vector<Found> found_;
};

}  // namespace

void add_orders(const ProcPtr& p, const CandidateRequest& request, CandidateReport& report) {
  for (const SumOfFactors& sum : lift_sums(*p)) add_orders_of(p, sum, request, report);
}

void add_steps_of_windows(const ProcPtr& p, const CandidateRequest& request,
                          CandidateReport& report) {
  if (request.reductions.empty()) return;
  for (const WindowReduction& w : lift_windows(*p, request.sizes))
    WindowSearch(p, w, request, report).run();
}

}  // namespace exotune::eqsat
