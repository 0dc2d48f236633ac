// How long saturation takes: sums in any order, arithmetic with derivatives and integrals under
// both schedules, and blocked products. The first two are the workloads that other e-graph
// libraries report; counts of nodes and classes go with each time, so that like is compared with
// like.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "search/eqsat/access.h"
#include "search/eqsat/rule_text.h"
#include "tests/search/eqsat/arithmetic.h"
#include "tests/search/eqsat/terms.h"

namespace exotune::eqsat {
namespace {

const Limits kPlenty{.iterations = 60, .nodes = 10'000'000, .seconds = 1000};

void show(benchmark::State& state, const EGraph& graph) {
  state.counters["nodes"] = static_cast<double>(graph.node_count());
  state.counters["classes"] = static_cast<double>(graph.class_count());
}

void sums_in_any_order(benchmark::State& state) {
  for (auto _ : state) {
    OpTable ops;
    EGraph graph(ops);
    std::string sum = std::to_string(state.range(0));
    for (int64_t i = state.range(0) - 1; i >= 1; --i)
      sum = "(+ " + std::to_string(i) + " " + sum + ")";
    add_term(graph, ops, sum);
    const std::vector<Rule> rules = {
        Rule::parse("comm-add", "(+ ?a ?b) => (+ ?b ?a)", ops),
        Rule::parse("assoc-add", "(+ ?a (+ ?b ?c)) => (+ (+ ?a ?b) ?c)", ops)};
    saturate(graph, rules, kPlenty, {.schedule = Schedule::kEvery});
    show(state, graph);
  }
}
BENCHMARK(sums_in_any_order)->DenseRange(7, 10)->Unit(benchmark::kMillisecond);

void arithmetic(benchmark::State& state, const char* term, Schedule schedule, int iterations) {
  for (auto _ : state) {
    OpTable ops;
    ConstantFolding folding(ops);
    EGraph graph(ops, &folding);
    add_term(graph, ops, term);
    const std::vector<Rule> rules = arithmetic_rules(ops, folding);
    Limits limits = kPlenty;
    limits.iterations = iterations;
    saturate(graph, rules, limits, {.schedule = schedule});
    show(state, graph);
  }
}
constexpr const char* kRoot = "(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))";
constexpr const char* kDerivative = "(d x (- (pow x 3) (* 7 (pow x 2))))";
constexpr const char* kParts = "(i (* x (cos x)) x)";
constexpr const char* kLogarithm = "(i (ln x) x)";
#define ARITHMETIC(name, term)                                                \
  BENCHMARK_CAPTURE(arithmetic, name##_every, term, Schedule::kEvery, 7)      \
      ->Unit(benchmark::kMillisecond);                                        \
  BENCHMARK_CAPTURE(arithmetic, name##_backoff, term, Schedule::kBackoff, 30) \
      ->Unit(benchmark::kMillisecond)
ARITHMETIC(root, kRoot);
ARITHMETIC(derivative, kDerivative);
ARITHMETIC(parts, kParts);
ARITHMETIC(logarithm, kLogarithm);

// A product of n x n x n in blocks of 64 and of 16.
void blocked_product(benchmark::State& state) {
  const auto text = [](const std::string& name) {
    std::ifstream in(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/" + name + ".rules");
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  for (auto _ : state) {
    OpTable ops;
    SizeTable sizes;
    AccessLanguage language(ops, sizes);
    AccessTypes types(language);
    EGraph graph(ops, &types);
    const auto op = [&](AccessOp kind, std::vector<int64_t> params, std::vector<Id> children) {
      return types.typed_add(graph, language.op(kind, params), children);
    };
    const Size n = state.range(0);
    const Id a = op(AccessOp::kAccess, {1}, {graph.add(language.tensor("A", {n, n}))});
    const Id b = op(AccessOp::kAccess, {1}, {graph.add(language.tensor("B", {n, n}))});
    op(AccessOp::kDot, {}, {op(AccessOp::kZip, {0}, {a, b})});
    std::vector<Rule> rules;
    for (const char* set : {"canonical", "blocking", "systolic"})
      for (Rule& rule :
           parse_rules(text(set), set, types, {{"K", 16}, {"L", 0}, {"R", 16}, {"C", 16}}))
        rules.push_back(std::move(rule));
    saturate(graph, rules, kPlenty);
    show(state, graph);
  }
}
BENCHMARK(blocked_product)->Arg(256)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace exotune::eqsat

BENCHMARK_MAIN();
