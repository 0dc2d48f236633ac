#include "search/eqsat/contraction_order.h"

#include <cmath>

#include "core/base/diagnostic.h"
#include "search/eqsat/extraction.h"

namespace exotune::eqsat {
namespace {

// Which factors a class multiplies: the same for all of its nodes.
class Factors : public Analysis {
 public:
  explicit Factors(const OpTable& ops) : ops_(ops) {}
  void make(const EGraph& graph, const ENode& node, Id id) override {
    if (id >= sets_.size()) sets_.resize(id + 1);
    sets_[id] = node.arity() == 0 ? of_leaf(node)
                                  : of(graph, node.children[0]) | of(graph, node.children[1]);
  }
  std::pair<bool, bool> merge(Id, Id) override { return {false, false}; }
  bool remake(const EGraph&, const ENode&, Id) override { return false; }
  uint64_t of_leaf(const ENode& node) const { return uint64_t{1} << ops_.params(node.op)[0]; }
  uint64_t of(const EGraph& graph, Id id) const { return sets_[graph.find(id)]; }

 private:
  const OpTable& ops_;
  std::vector<uint64_t> sets_;
};

// Indices that the product of these factors still has: of the result, or of another factor.
uint64_t kept(const Contraction& c, uint64_t set) {
  uint64_t inside = 0, outside = c.output;
  for (size_t k = 0; k < c.factors.size(); ++k) (set >> k & 1 ? inside : outside) |= c.factors[k];
  return inside & outside;
}

double points(const Contraction& c, uint64_t indices) {
  double product = 1;
  for (size_t i = 0; i < c.extents.size(); ++i)
    if (indices >> i & 1) product *= c.extents[i];
  return product;
}

uint64_t lowest(uint64_t set) { return set & -set; }

}  // namespace

ContractionOrders contraction_orders(const Contraction& c, size_t k, const Limits& limits) {
  EXO_CHECK(c.factors.size() >= 2 && c.factors.size() <= 12);
  OpTable ops;
  Factors factors(ops);
  EGraph graph(ops, &factors);
  const Op times = ops.op("times");
  Id root = kNoId;
  for (size_t f = 0; f < c.factors.size(); ++f) {
    const Id leaf = graph.add(ops.op("factor", {static_cast<int64_t>(f)}));
    root = f == 0 ? leaf : graph.add(times, {root, leaf});
  }
  const std::vector<Rule> rules = {
      Rule::parse("either-order", "(times ?a ?b) => (times ?b ?a)", ops),
      Rule::parse("either-pair", "(times (times ?a ?b) ?c) => (times ?a (times ?b ?c))", ops)};
  ContractionOrders out;
  out.stop = saturate(graph, rules, limits, {.schedule = Schedule::kEvery}).stop;
  out.nodes = graph.node_count();
  out.classes = graph.class_count();
  const CostModel model{.of = [&](const EGraph& g, Id, const ENode& node) {
    CostVector cost = {};
    if (node.arity() == 0) return cost;
    const uint64_t left = factors.of(g, node.children[0]), right = factors.of(g, node.children[1]);
    // Of the two orders of a product one is enough.
    cost[0] = lowest(left) < lowest(right) ? points(c, kept(c, left) | kept(c, right)) : HUGE_VAL;
    return cost;
  }};
  for (const Extracted& e : extract(graph, root, model, k)) {
    if (std::isinf(e.cost[0])) continue;
    ContractionTree& tree = out.trees.emplace_back();
    tree.multiplications = e.cost[0];
    for (const Term::Node& node : e.term.nodes) {
      ContractionTree::Node& made = tree.nodes.emplace_back();
      if (node.children.empty()) {
        made.factor = static_cast<int>(ops.params(node.op)[0]);
      } else {
        made.left = node.children[0];
        made.right = node.children[1];
      }
    }
  }
  return out;
}

}  // namespace exotune::eqsat
