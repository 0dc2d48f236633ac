// The e-graph against what is known of it: counts with closed forms, congruence by brute force.
#include "search/eqsat/egraph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/base/diagnostic.h"
#include "search/eqsat/proof_forest.h"
#include "search/eqsat/saturation.h"
#include "tests/search/eqsat/arithmetic.h"
#include "tests/search/eqsat/terms.h"

namespace exotune::eqsat {
namespace {

std::string sum_of(int n) {
  std::string text = std::to_string(n);
  for (int i = n - 1; i >= 1; --i) text = "(+ " + std::to_string(i) + " " + text + ")";
  return text;
}

std::vector<Rule> sums_in_any_order(OpTable& ops) {
  return {Rule::parse("comm-add", "(+ ?a ?b) => (+ ?b ?a)", ops),
          Rule::parse("assoc-add", "(+ ?a (+ ?b ?c)) => (+ (+ ?a ?b) ?c)", ops)};
}

const Limits kPlenty{.iterations = 60, .nodes = 10'000'000, .seconds = 1000};

TEST(EGraph, sums_of_n_terms_have_a_class_for_each_subset) {
  for (int n = 2; n <= 10; ++n) {
    OpTable ops;
    EGraph graph(ops);
    add_term(graph, ops, sum_of(n));
    const auto report =
        saturate(graph, sums_in_any_order(ops), kPlenty, {.schedule = Schedule::kEvery});
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    const auto two = static_cast<size_t>(std::lround(std::pow(2, n)));
    const auto three = static_cast<size_t>(std::lround(std::pow(3, n)));
    EXPECT_EQ(graph.class_count(), two - 1) << n;
    EXPECT_EQ(graph.node_count(), three - 2 * two + 1 + static_cast<size_t>(n)) << n;
  }
}

TEST(EGraph, congruence_follows_a_union) {
  OpTable ops;
  EGraph graph(ops);
  const Id fa = add_term(graph, ops, "(f (g a))");
  const Id fb = add_term(graph, ops, "(f (g b))");
  EXPECT_NE(graph.find(fa), graph.find(fb));
  EXPECT_TRUE(graph.unite(add_term(graph, ops, "a"), add_term(graph, ops, "b")));
  EXPECT_EQ(graph.rebuild(), 2u);
  EXPECT_EQ(graph.find(fa), graph.find(fb));
  EXPECT_EQ(graph.class_count(), 3u);
}

// Random terms over few names and random unions, closed once by the graph and once by comparing
// every pair of nodes until nothing changes.
TEST(EGraph, closure_equals_that_of_comparing_all_pairs) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    OpTable ops;
    EGraph graph(ops);
    const std::vector<Op> names = {ops.op("a"), ops.op("b"), ops.op("c"), ops.op("d")};
    const std::vector<Op> functions = {ops.op("f"), ops.op("g")};
    std::vector<ENode> nodes;
    std::vector<Id> ids;
    for (const Op name : names) {
      nodes.push_back({name});
      ids.push_back(graph.add(name));
    }
    for (int i = 0; i < 20; ++i) {
      const auto pick = [&] { return static_cast<Id>(random() % nodes.size()); };
      const Id x = pick(), y = pick();  // indices into `nodes`, unlike the graph's ids
      const bool two = random() % 2;
      const Op op = functions[random() % 2];
      nodes.push_back(two ? ENode{op, {x, y, kNoId}} : ENode{op, {x, kNoId, kNoId}});
      ids.push_back(two ? graph.add(op, {ids[x], ids[y]}) : graph.add(op, {ids[x]}));
    }
    std::vector<Id> leader(nodes.size());
    for (Id i = 0; i < leader.size(); ++i) leader[i] = i;
    const auto join = [&](Id a, Id b) {
      for (Id& l : leader)
        if (l == a) l = b;
    };
    for (int i = 0; i < 4; ++i) {
      const Id x = static_cast<Id>(random() % nodes.size());
      const Id y = static_cast<Id>(random() % nodes.size());
      graph.unite(ids[x], ids[y]);
      join(leader[x], leader[y]);
    }
    graph.rebuild();
    const auto same = [&](const ENode& a, const ENode& b) {
      if (a.op != b.op || a.arity() != b.arity()) return false;
      for (int k = 0; k < a.arity(); ++k)
        if (leader[a.children[k]] != leader[b.children[k]]) return false;
      return true;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < nodes.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (leader[i] != leader[j] && same(nodes[i], nodes[j])) {
            join(leader[i], leader[j]);
            changed = true;
          }
    }
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        ASSERT_EQ(graph.find(ids[i]) == graph.find(ids[j]), leader[i] == leader[j]) << round;
  }
}

// A random term over f, g, h, a few names and, in patterns, variables.
std::string random_text(std::mt19937& random, int depth, bool pattern) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || below(4) == 0)
    return pattern && below(4) > 0 ? std::string("?") + "xyz"[below(3)]
                                   : std::string(1, "abc"[below(3)]);
  std::string text = std::string("(") + "fgh"[below(3)];
  for (int i = 1 + below(2); i > 0; --i) text += " " + random_text(random, depth - 1, pattern);
  return text + ")";
}

// Rules that look at each match once, and apply first those that make nothing but a whole, find
// what rules do that take all matches in their order in each iteration, which conditions that
// always hold make them do.
TEST(Saturation, a_match_that_was_there_before_adds_nothing) {
  std::mt19937 random(11);
  size_t left_out = 0, compared = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> terms, texts;
    for (int i = 0; i < 4; ++i) terms.push_back(random_text(random, 4, false));
    while (texts.size() < 5) {
      std::string left = random_text(random, 3, true);
      if (random() % 4 == 0) left = "?x = " + left + ", ?y = " + random_text(random, 2, true);
      texts.push_back(left + " => " + random_text(random, 2, true));
      OpTable ops;
      try {
        Rule::parse("", texts.back(), ops);
      } catch (const InputError&) {
        texts.pop_back();  // the right side has a variable that the left has not
      }
    }
    const Schedule schedule = round % 2 ? Schedule::kEvery : Schedule::kBackoff;
    const auto run = [&](bool once) {
      OpTable ops;
      EGraph graph(ops);
      for (const std::string& term : terms) add_term(graph, ops, term);
      std::vector<Rule> rules;
      for (const std::string& text : texts) {
        rules.push_back(Rule::parse("", text, ops));
        if (!once) rules.back().conditions.push_back([](const EGraph&, Bindings) { return true; });
      }
      const SaturationReport report =
          saturate(graph, rules, {.iterations = 8, .nodes = 3'000, .seconds = 1000},
                   {.schedule = schedule, .match_limit = 20, .ban_length = 2});
      std::vector<std::vector<size_t>> counts;  // of iterations that were not cut short
      for (const IterationReport& i : report.iterations) {
        if (report.stop == StopReason::kNodes && &i == &report.iterations.back()) break;
        counts.push_back({i.nodes, i.classes});
        counts.back().insert(counts.back().end(), i.matched.begin(), i.matched.end());
        for (size_t r = 0; r < i.matched.size(); ++r) left_out += i.matched[r] > i.applied[r];
      }
      return counts;
    };
    auto once = run(true), often = run(false);
    // Terms that come to nothing are made in one order only, and count for the limit.
    ASSERT_GE(once.size() + 1, often.size());
    once.resize(std::min(once.size(), often.size()));
    often.resize(once.size());
    ASSERT_EQ(once, often) << round << " " << texts[0] << " " << terms[0];
    compared += once.size();
  }
  EXPECT_GT(left_out, 1'000u);
  EXPECT_GT(compared, 800u);
}

// Each interval of the product is one class; without an order, each way to split it would be made
// as a class first.
TEST(Saturation, terms_that_are_soon_found_equal_are_not_made) {
  OpTable ops;
  EGraph graph(ops);
  std::string text = "x20";
  for (int i = 19; i >= 0; --i) text = "(* x" + std::to_string(i) + " " + text + ")";
  add_term(graph, ops, text);
  const std::vector<Rule> rules = {Rule::parse("", "(* ?a (* ?b ?c)) => (* (* ?a ?b) ?c)", ops),
                                   Rule::parse("", "(* (* ?a ?b) ?c) => (* ?a (* ?b ?c))", ops)};
  const auto report = saturate(graph, rules, kPlenty, {.schedule = Schedule::kEvery});
  EXPECT_EQ(report.stop, StopReason::kSaturated);
  size_t most = 0;
  for (const IterationReport& i : report.iterations) most = std::max(most, i.nodes);
  EXPECT_LE(graph.term_count(), 2 * most);
}

TEST(Matcher, tells_matches_that_were_there_from_new_ones) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, "(f (g a))");
  graph.rebuild();
  const Moment then{graph.view().number(), static_cast<Id>(graph.id_count())};
  const Id b = add_term(graph, ops, "(g b)");
  graph.unite(add_term(graph, ops, "(g a)"), b);
  graph.rebuild();
  const Rule rule = Rule::parse("rule", "(f (g ?x)) => ?x", ops);
  const Matcher matcher(rule.left, rule.variables.size());
  Matches all, fresh;
  matcher.search(graph, 100, all);
  EXPECT_EQ(all.size(), 2u);
  matcher.search(graph, 100, fresh, {then, true});
  EXPECT_EQ(fresh.size() + fresh.left_out, 2u);
  ASSERT_GE(fresh.size(), 1u);
  const auto x = static_cast<size_t>(rule.variables.find("?x"));
  EXPECT_EQ(fresh.bindings(fresh.size() - 1)[x], graph.find(add_term(graph, ops, "b")));
}

TEST(Saturation, simplifies_a_sum_of_equal_terms) {
  OpTable ops;
  ConstantFolding folding(ops);
  EGraph graph(ops, &folding);
  const Id start = add_term(graph, ops, "(+ x (+ x (+ x x)))");
  const Id goal = add_term(graph, ops, "(* 4 x)");
  saturate(graph, arithmetic_rules(ops, folding), {}, {},
           {.reached = [&](const EGraph& g) { return g.find(start) == g.find(goal); }});
  EXPECT_EQ(graph.find(start), graph.find(goal));
}

TEST(Saturation, stops_at_the_limit_of_nodes_within_an_iteration) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, sum_of(12));
  const auto report =
      saturate(graph, sums_in_any_order(ops), {.iterations = 60, .nodes = 5'000, .seconds = 1000},
               {.schedule = Schedule::kEvery});
  EXPECT_EQ(report.stop, StopReason::kNodes);
  EXPECT_LE(graph.term_count(), 5'600u);
}

TEST(Saturation, memory_stays_near_its_limit) {
  for (const size_t limit : {size_t{1} << 20, size_t{1} << 22}) {
    OpTable ops;
    EGraph graph(ops);
    add_term(graph, ops, sum_of(14));
    const auto report =
        saturate(graph, sums_in_any_order(ops),
                 {.iterations = 60, .nodes = 10'000'000, .bytes = limit, .seconds = 1000},
                 {.schedule = Schedule::kEvery});
    EXPECT_EQ(report.stop, StopReason::kBytes);
    EXPECT_LE(graph.bytes(), limit + limit / 10);
    EXPECT_GE(graph.bytes(), limit / 4);
  }
}

// One root matches as often as there are pairs of classes.
TEST(Saturation, several_patterns_are_interrupted_within_one_root) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, "(z (p a) (p b))");
  const std::vector<Rule> rules = {
      Rule::parse("pairs", "?x = (p ?a), ?y = (p ?b) => (p (q ?a ?b))", ops)};
  size_t asked = 0;
  const auto report =
      saturate(graph, rules, {.iterations = 60, .nodes = 10'000'000, .seconds = 1000},
               {.schedule = Schedule::kEvery}, {.interrupted = [&] { return ++asked > 2'000; }});
  EXPECT_EQ(report.stop, StopReason::kInterrupted);
  // As many matches as were asked about, not as there are pairs.
  EXPECT_LE(report.iterations.back().matched[0], 256u * 2'100);
}

TEST(Saturation, time_stays_near_its_limit_however_long_a_rebuild_takes) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, sum_of(12));
  const auto report = saturate(graph, sums_in_any_order(ops),
                               {.iterations = 60, .nodes = 10'000'000, .seconds = 0.05},
                               {.schedule = Schedule::kEvery});
  EXPECT_EQ(report.stop, StopReason::kSeconds);
}

TEST(Saturation, stops_when_time_is_up_by_the_given_clock) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, sum_of(10));
  double ticks = 0;
  const auto report = saturate(graph, sums_in_any_order(ops), {.nodes = 1'000'000, .seconds = 50},
                               {}, {.now = [&] { return ticks += 1; }});
  EXPECT_EQ(report.stop, StopReason::kSeconds);
}

TEST(Matcher, binds_operators_of_a_family_and_compares_them) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, "(transpose[1,0] (transpose[1,0] a))");
  add_term(graph, ops, "(transpose[0,1] (transpose[1,0] b))");
  graph.rebuild();
  const Rule same = Rule::parse("same", "(transpose[?p] (transpose[?p] ?a)) => ?a", ops);
  Matches found;
  Matcher(same.left, same.variables.size()).search(graph, 100, found);
  ASSERT_EQ(found.size(), 1u);
  const auto p = static_cast<size_t>(same.variables.find("?p"));
  EXPECT_EQ(ops.str(found.bindings(0)[p]), "transpose[1,0]");
}

TEST(Matcher, several_patterns_match_together) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, "(g a b)");
  add_term(graph, ops, "(h b c)");
  add_term(graph, ops, "(h x c)");
  graph.rebuild();
  const Rule rule = Rule::parse("path", "?r = (g ?a ?b), ?s = (h ?b ?c) => (k ?a ?c)", ops);
  Matches found;
  Matcher(rule.left, rule.variables.size()).search(graph, 100, found);
  EXPECT_EQ(found.size(), 1u);
}

// Applying the steps one by one to the first term gives the second, each step by its own rule.
TEST(Proof, steps_lead_from_one_term_to_the_other) {
  OpTable ops;
  EGraph graph(ops, nullptr, true);
  const Id start = add_term(graph, ops, "(f (+ a (+ b c)) (+ p q))");
  const Id goal = add_term(graph, ops, "(f (+ (+ c b) a) (+ q p))");
  const std::vector<Rule> rules = sums_in_any_order(ops);
  saturate(graph, rules, kPlenty);
  ASSERT_EQ(graph.find(start), graph.find(goal));
  const auto steps = graph.proofs()->explain(graph, start, goal);
  ASSERT_TRUE(steps);
  ASSERT_FALSE(steps->empty());

  Id now = start;
  const std::function<Id(Id, const ProofStep&, size_t)> replace = [&](Id id, const ProofStep& step,
                                                                      size_t depth) -> Id {
    if (depth == step.position.size()) {
      EXPECT_EQ(term_text(graph, id), term_text(graph, step.before));
      return step.after;
    }
    ENode node = graph.original(id);
    Id& child = node.children[static_cast<size_t>(step.position[depth])];
    child = replace(child, step, depth + 1);
    return graph.add(node.op,
                     std::span<const Id>(node.children.data(), static_cast<size_t>(node.arity())));
  };
  for (const ProofStep& step : *steps) {
    const Rule& rule = rules[static_cast<size_t>(step.rule)];
    EGraph alone(ops);
    const Id left = add_term(alone, ops, term_text(graph, step.forward ? step.before : step.after));
    const Id right =
        add_term(alone, ops, term_text(graph, step.forward ? step.after : step.before));
    saturate(alone, {rule}, {.iterations = 1}, {.schedule = Schedule::kEvery});
    EXPECT_EQ(alone.find(left), alone.find(right)) << rule.name;
    now = replace(now, step, 0);
  }
  EXPECT_EQ(term_text(graph, now), term_text(graph, goal));
}

TEST(Pattern, text_that_is_no_pattern_is_refused_where_it_fails) {
  OpTable ops;
  for (const std::string text : {"", "(", "(f ?a", "f ?a", "(?f a)", "(f a b c d)", "(f[1,x] a)"}) {
    Variables variables;
    EXPECT_THROW(Pattern::parse(text, ops, variables), InputError) << text;
  }
  EXPECT_THROW(Rule::parse("unbound", "(f ?a) => (g ?b)", ops), InputError);
}

}  // namespace
}  // namespace exotune::eqsat
