// Extraction against enumeration: random small e-graphs, all terms up to a depth.
#include "search/eqsat/extraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "search/eqsat/saturation.h"

namespace exotune::eqsat {
namespace {

// Costs by operator name: a letter's place in the alphabet.
CostModel by_letter() {
  return {.of = [](const EGraph& graph, Id, const ENode& node) {
    return CostVector{static_cast<double>(graph.ops().name(family_of(node.op))[0] - 'a' + 1)};
  }};
}

double tree_cost(const EGraph& graph, const CostModel& model, const Term& term, int at) {
  const Term::Node& node = term.nodes[static_cast<size_t>(at)];
  double sum = model.scalar(model.of(graph, 0, ENode{node.op}));
  for (const int child : node.children) sum += tree_cost(graph, model, term, child);
  return sum;
}

constexpr size_t kEnough = 4;  // costs of each class; the cheapest sums need no others

// The lowest costs of all terms of a class up to this height.
std::multiset<double> all_costs(const EGraph& graph, const CostModel& model, Id id, int height) {
  std::multiset<double> costs;
  if (height == 0) return costs;
  for (const ENode& node : graph.nodes(id)) {
    std::multiset<double> sums = {model.scalar(model.of(graph, id, node))};
    for (int i = 0; i < node.arity(); ++i) {
      std::multiset<double> next;
      for (const double c : all_costs(graph, model, node.children[i], height - 1))
        for (const double s : sums) next.insert(s + c);
      while (next.size() > kEnough) next.erase(std::prev(next.end()));
      sums = std::move(next);
    }
    costs.insert(sums.begin(), sums.end());
    while (costs.size() > kEnough) costs.erase(std::prev(costs.end()));
  }
  return costs;
}

// Few names, a dozen nodes, a few unions: circles included.
struct RandomGraph {
  OpTable ops;
  EGraph graph{ops};
  Id root = 0;

  explicit RandomGraph(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Id> ids = {graph.add(ops.op("c")), graph.add(ops.op("e")), graph.add(ops.op("h"))};
    for (int i = 0; i < 7; ++i) {
      const auto any = [&] { return ids[random() % ids.size()]; };
      const Id a = any(), b = any();
      ids.push_back(random() % 2 ? graph.add(ops.op("f"), {a, b}) : graph.add(ops.op("b"), {a}));
    }
    for (int i = 0; i < 3; ++i) graph.unite(ids[random() % ids.size()], ids[random() % ids.size()]);
    graph.rebuild();
    root = graph.find(ids.back());
  }
};

TEST(Extraction, finds_the_k_cheapest_terms) {
  const CostModel model = by_letter();
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomGraph g(seed);
    const std::vector<Extracted> found = extract(g.graph, g.root, model, 3);
    const std::multiset<double> all = all_costs(g.graph, model, g.root, 5);
    auto expected = all.begin();
    ASSERT_FALSE(found.empty()) << seed;
    for (const Extracted& e : found) {
      EXPECT_EQ(tree_cost(g.graph, model, e.term, e.term.root()), e.cost[0]) << seed;
      if (expected == all.end()) continue;  // taller than what was enumerated
      EXPECT_LE(e.cost[0], *expected++) << seed;
    }
    for (size_t i = 1; i < found.size(); ++i) {
      EXPECT_NE(found[i].term, found[i - 1].term) << seed;
      EXPECT_LE(found[i - 1].scalar, found[i].scalar) << seed;
    }
  }
}

TEST(Extraction, what_is_found_is_in_the_class) {
  const CostModel model = by_letter();
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomGraph g(seed);
    for (const Extracted& e : extract(g.graph, g.root, model, 5))
      EXPECT_EQ(g.graph.find(add(g.graph, e.term)), g.root) << seed;
  }
}

TEST(Extraction, shared_subterms_are_paid_once) {
  OpTable ops;
  EGraph graph(ops);
  // f(z, z) shares its dear child; f(y, x) has two that are a little cheaper.
  const Id shared = add(graph, Term::parse("(f (b z) (b z))", ops));
  const Id apart = add(graph, Term::parse("(f (b y) (b x))", ops));
  graph.unite(shared, apart);
  graph.rebuild();
  const CostModel model = by_letter();
  EXPECT_EQ(extract(graph, shared, model)[0].term.str(ops), "(f (b y) (b x))");
  const Extracted best = extract_shared(graph, shared, model);
  EXPECT_EQ(best.term.str(ops), "(f (b z) (b z))");
  EXPECT_NEAR(best.scalar, shared_cost(graph, model, best.term), 1e-6);
}

TEST(Extraction, sharing_is_never_dearer_than_the_cheapest_tree) {
  const CostModel model = by_letter();
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomGraph g(seed);
    const double tree = shared_cost(g.graph, model, extract(g.graph, g.root, model)[0].term);
    EXPECT_LE(extract_shared(g.graph, g.root, model).scalar, tree + 1e-6) << seed;
  }
}

TEST(Term, text_parses_back) {
  OpTable ops;
  const std::string text = "(dot (pair (transpose[1,0] a) a))";
  EXPECT_EQ(Term::parse(text, ops).str(ops), text);
}

}  // namespace
}  // namespace exotune::eqsat
