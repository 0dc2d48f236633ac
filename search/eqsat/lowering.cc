#include "search/eqsat/lowering.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"
#include "search/eqsat/evaluation.h"
#include "search/eqsat/extraction.h"
#include "search/eqsat/graph_text.h"
#include "search/eqsat/proof_forest.h"
#include "search/eqsat/reduction_steps.h"
#include "search/eqsat/rule_text.h"

namespace exotune::eqsat {
namespace {

// Each node counts, so that what changes nothing is left out.
CostModel by_size() {
  return {.of = [](const EGraph&, Id, const ENode&) { return CostVector{1}; }};
}

// An operand whose blocks are taken together again is what it was, and a sum of sums has the points
// of the sum: both come last, or they would be most of the smallest terms.
CostModel by_blocks(const AccessTypes& types) {
  return {.of = [&types](const EGraph& graph, Id id, const ENode& node) {
    constexpr double kLast = 8;  // more nodes than such a term has fewer
    const auto kind = types.language().kind(node.op);
    const bool again = kind == AccessOp::kMerge && !types.of(graph, id).item.empty();
    return CostVector{again || kind == AccessOp::kSum ? kLast : 1};
  }};
}

// The constants of the rules, one set after the other.
std::vector<std::map<std::string, int64_t>> levels_of(const CandidateRequest& request) {
  if (request.blocks.empty()) return {request.constants};
  std::vector<std::map<std::string, int64_t>> levels;
  int64_t whole = 0;
  for (const int64_t block : request.blocks) {
    levels.push_back(request.constants);
    levels.back()["K"] = block;
    levels.back()["L"] = std::exchange(whole, block);
  }
  return levels;
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
    written_ = std::get<Term>(std::move(term));
    root_ = add(graph_, written_);
    return std::nullopt;
  }

  std::optional<ViewFigures> figures_as_written(const std::map<std::string, int64_t>& at) const {
    Candidate c;
    describe_cost(c, at);
    return c.figures;
  }

  void run(const CandidateRequest& request, CandidateReport& report) {
    std::vector<Rule> rules;
    const Deadline end = Deadline::after(request.limits.seconds);
    StopReason stop = StopReason::kSaturated;
    // The rules of each level have the names of the others', in one order: a proof names them.
    for (const auto& constants : levels_of(request)) {
      if (stop != StopReason::kSaturated) break;
      rules.clear();
      for (const RuleText& text : request.rules)
        for (Rule& rule : parse_rules(text.text, text.file, types_, constants))
          rules.push_back(std::move(rule));
      Limits limits = request.limits;
      limits.seconds = end.left();
      stop = saturate(graph_, rules, limits).stop;
    }
    if (stop != StopReason::kSaturated) report.stop = stop;
    report.nodes += graph_.node_count();
    report.classes += graph_.class_count();
    if (request.dot) report.dot += graph_text(graph_, types_);
    const CostModel model = request.blocks.empty() ? by_size() : by_blocks(types_);
    for (const Extracted& e : extract(graph_, root_, model, kTerms)) {
      if (is_done(request)) return;
      consider(e.term, rules, request, report);
    }
  }

 private:
  static constexpr size_t kTerms = 400;              // many of them say the same of the program
  static constexpr size_t kBijections = 64;          // that are put to proof, of each product
  static constexpr double kProofSeconds = 5;         // of them all
  static constexpr int64_t kTestedSize = 4;          // where a size is open
  static constexpr int64_t kTestedPoints = 1 << 18;  // a moment each

  // Replayed where the term says what is copied, else as other loops, else tested.
  void consider(const Term& term, const std::vector<Rule>& rules, const CandidateRequest& request,
                CandidateReport& report) {
    Candidate c;
    std::optional<std::string> why = replayed(term, request, c);
    if (why && looks_for_loops(request)) why = counted(term, *std::move(why), c);
    if (why) {
      ++report.refused[*why];
      if (request.allow_tested && tested_ < request.k) test(term, request, c);
    }
    if (c.proof == CandidateProof::kNone) return;
    c.term = term.str(ops_);
    c.product = static_cast<int>(report.written.size()) - 1;
    c.rules = rules_between(graph_, root_, add(graph_, term), rules);
    const bool views = c.proof == CandidateProof::kReplay;
    report.candidates.push_back(std::move(c));
    Candidate& taken = report.candidates.back();
    if (taken.loops) count_points(taken, request.sizes);
    if (!views) return;
    describe_cost(taken, request.sizes);
    // The tiles of an array lie in one way alone.
    if (taken.plan.fused.empty() && request.constants.empty()) read_in_place(request, report);
  }

  // The last candidate with one copy less: a machine may read an operand as it lies, and a term
  // does not say which of its views are worth copying.
  void read_in_place(const CandidateRequest& request, CandidateReport& report) {
    const Candidate whole = report.candidates.back();
    for (size_t k = 0; whole.plan.views.size() > 1 && k < whole.plan.views.size(); ++k) {
      ViewPlan plan = whole.plan;
      plan.views.erase(plan.views.begin() + static_cast<long>(k));
      Candidate c;
      if (take(std::move(plan), request, c) || c.proof == CandidateProof::kNone) continue;
      c.term = whole.term;
      c.product = whole.product;
      c.rules = whole.rules;
      describe_cost(c, request.sizes);
      report.candidates.push_back(std::move(c));
    }
  }

  // Each kind has places of its own: none takes those of another.
  bool is_done(const CandidateRequest& request) const {
    return replayed_ >= request.k && !looks_for_loops(request) &&
           (!request.allow_tested || tested_ >= request.k);
  }

  bool looks_for_loops(const CandidateRequest& request) const {
    return counted_ < request.loops && seen_loops_.size() < kBijections && proof_seconds_ > 0;
  }

  // Why it has no replay; nothing where it has one, though it may be known, or one too many.
  std::optional<std::string> replayed(const Term& term, const CandidateRequest& request,
                                      Candidate& c) {
    std::variant<ViewPlan, std::string> read = plan_of(product_, term, language_, request.plan);
    if (std::string* why = std::get_if<std::string>(&read)) return std::move(*why);
    return take(std::get<ViewPlan>(std::move(read)), request, c);
  }

  std::optional<std::string> take(ViewPlan plan, const CandidateRequest& request, Candidate& c) {
    if (replayed_ >= request.k) return std::nullopt;
    if (std::find(seen_.begin(), seen_.end(), plan) != seen_.end()) return std::nullopt;
    seen_.push_back(plan);
    try {
      c.proc = replay(proc_, product_, plan, sizes_);
    } catch (const Error& e) {  // also buffers that are made inside the loops
      return e.diagnostic().message.str();
    }
    c.text = text_of(product_, plan);
    c.plan = std::move(plan);
    c.proof = CandidateProof::kReplay;
    ++replayed_;
    return std::nullopt;
  }

  // Why it is no other loops, `why` where it has none; nothing where it is, though it may be known.
  std::optional<std::string> counted(const Term& term, std::string why, Candidate& c) {
    std::variant<IndexPlan, std::string> plan = index_plan_of(proc_, product_, term, language_);
    if (std::holds_alternative<std::string>(plan)) return why;
    IndexPlan& loops = std::get<IndexPlan>(plan);
    if (std::find(seen_loops_.begin(), seen_loops_.end(), loops) != seen_loops_.end())
      return std::nullopt;
    seen_loops_.push_back(loops);
    const DeadlineScope proofs(DeadlineScope::current().within(proof_seconds_));
    const double start = TimeSource::steady().seconds();
    try {
      c.proc = reindexed(proc_, product_, loops);
    } catch (const Error& e) {  // names that hide each other, points that are not the same
      why = e.diagnostic().message.str();
    }
    proof_seconds_ -= TimeSource::steady().seconds() - start;
    if (!c.proc) return why;
    c.text = text_of(loops);
    c.loops = std::move(loops);
    c.proof = CandidateProof::kBijection;
    ++counted_;
    return std::nullopt;
  }

  // Equal to the program's term on random numbers; too large a product is not tried.
  void test(const Term& term, const CandidateRequest& request, Candidate& c) {
    std::map<std::string, int64_t> at = request.sizes;
    Size points = 1;
    for (const ProductLoop& loop : product_.loops) points = sizes_.mul(points, loop.extent);
    for (const std::string& name : sizes_.names(points)) at.emplace(name, kTestedSize);
    if (sizes_.value(points, at) > kTestedPoints) return;
    const std::vector<Numbers> tensors = random_tensors(language_, at, 1);
    if (!(numbers_of(term, tensors, at) == numbers_of(written_, tensors, at))) return;
    c.text = "a term of its own";
    c.proof = CandidateProof::kTested;
    ++tested_;
  }

  Numbers numbers_of(const Term& term, const std::vector<Numbers>& tensors,
                     const std::map<std::string, int64_t>& at) const {
    std::vector<Numbers> all;
    for (const Term::Node& node : term.nodes) {
      std::vector<const Numbers*> arguments;
      for (const int child : node.children) arguments.push_back(&all[static_cast<size_t>(child)]);
      all.push_back(evaluate(language_, node.op, arguments, tensors, at));
    }
    return all.back();
  }

  // As written, but for points that a guard leaves out.
  void count_points(Candidate& c, const std::map<std::string, int64_t>& at) const {
    c.copied = "0";
    c.figures = figures_as_written(at);
    for (const std::string& name : sizes_.names(c.loops->points))
      if (!at.contains(name)) c.figures.reset();
    if (c.figures) c.figures->products = static_cast<double>(sizes_.value(c.loops->points, at));
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

  const ProcPtr& proc_;
  const Product& product_;
  SizeTable& sizes_;
  OpTable ops_;
  AccessLanguage language_;
  AccessTypes types_;
  EGraph graph_;
  Term written_;
  Id root_ = kNoId;
  std::vector<IndexPlan> seen_loops_;
  std::vector<ViewPlan> seen_{ViewPlan{}};  // as written
  size_t replayed_ = 0, counted_ = 0, tested_ = 0;
  double proof_seconds_ = kProofSeconds;  // that are left
};

}  // namespace

const char* name_of(CandidateProof proof) {
  switch (proof) {
    case CandidateProof::kNone:
      return "";
    case CandidateProof::kReplay:
      return "by replay";
    case CandidateProof::kBijection:
      return "by Z3";
    case CandidateProof::kTested:
      return "tested";
  }
  return "?";
}

CandidateReport find_candidates(const ProcPtr& p, const CandidateRequest& request) {
  CandidateReport report;
  report.candidates.push_back({.text = "as written", .proc = p});
  SizeTable sizes;
  const LiftedProducts lifted = lift_products(*p, sizes);
  report.not_lifted = lifted.others;
  for (const Product& product : lifted.products) {
    const SourceLocation where = stmt_at(*p, product.path)->where;
    try {
      ProductSearch search(p, product, sizes);
      if (auto why = search.start()) {
        why->where = where;
        report.not_lifted.push_back(*std::move(why));
        continue;
      }
      report.written.push_back(search.figures_as_written(request.sizes));
      search.run(request, report);
    } catch (InputError& e) {  // extents whose product nothing counts
      if (!e.diagnostic().where.known()) e.diagnostic().where = where;
      throw;
    }
  }
  add_orders(p, request, report);
  add_steps_of_windows(p, request, report);
  return report;
}

}  // namespace exotune::eqsat
