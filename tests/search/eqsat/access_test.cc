// Access patterns: types, meaning, and what the shipped rules find, each rule set audited.
#include "search/eqsat/access.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "core/base/diagnostic.h"
#include "search/eqsat/evaluation.h"
#include "search/eqsat/extraction.h"
#include "search/eqsat/rule_audit.h"
#include "search/eqsat/rule_text.h"
#include "search/eqsat/saturation.h"

namespace exotune::eqsat {
namespace {

std::string shipped(const std::string& name) {
  std::ifstream in(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/" + name + ".rules");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A problem with a graph of its own.
struct Problem {
  OpTable ops;
  SizeTable sizes;
  AccessLanguage language{ops, sizes};
  AccessTypes types{language};
  EGraph graph{ops, &types};

  Id add(AccessOp op, std::vector<int64_t> params, std::vector<Id> children) {
    const Id id = types.typed_add(graph, language.op(op, params), children);
    EXPECT_NE(id, kNoId) << ops.name(family_of(language.op(op, params)));
    return id;
  }
  Id tensor(const std::string& name, std::vector<Size> dims) {
    return graph.add(language.tensor(name, std::move(dims)));
  }
  std::string type(Id id) { return language.str(types.of(graph, id)); }

  std::vector<Rule> rules(const std::vector<std::string>& sets,
                          const std::map<std::string, int64_t>& constants = {}) {
    std::vector<Rule> all;
    for (const std::string& set : sets)
      for (Rule& rule : parse_rules(shipped(set), set, types, constants))
        all.push_back(std::move(rule));
    return all;
  }
  // Whether the class holds a node of this operator.
  bool holds(Id id, AccessOp op) {
    for (const ENode& node : graph.nodes(id))
      if (language.kind(node.op) == op) return true;
    return false;
  }
  bool anywhere(AccessOp op) {
    for (const Id id : graph.classes())
      if (holds(id, op)) return true;
    return false;
  }

  // A * B with B's columns as items: (M | | K), (N | | K) -> (M, N | | )
  Id matmul(Size m, Size n, Size k) {
    const Id a = add(AccessOp::kAccess, {1}, {tensor("A", {m, k})});
    const Id b = add(AccessOp::kTranspose, {1, 0}, {tensor("B", {k, n})});
    const Id columns = add(AccessOp::kAccess, {1}, {b});
    return add(AccessOp::kDot, {}, {add(AccessOp::kZip, {0}, {a, columns})});
  }
  // Images (C, H, W), weights (O, C, r, r): (H', W', O | | ) over (C, r, r)
  Id conv2d(Size c, Size h, Size w, Size o, int64_t r, int64_t stride) {
    const Id image = add(AccessOp::kAccess, {0}, {tensor("image", {c, h, w})});
    const Id rows = add(AccessOp::kWindow, {1, r, stride, 1}, {image});
    const Id windows = add(AccessOp::kWindow, {3, r, stride, 1}, {rows});
    const Id weights = add(AccessOp::kAccess, {1}, {tensor("weights", {o, c, r, r})});
    return add(AccessOp::kDot, {}, {add(AccessOp::kZip, {0}, {windows, weights})});
  }
};

const Limits kPlenty{.iterations = 40, .nodes = 200'000, .seconds = 1000};

void expect_sound(const Problem& p, const std::map<std::string, int64_t>& sizes = {}) {
  const AuditReport report = audit(p.graph, p.types, sizes);
  EXPECT_TRUE(report.wrong.empty()) << report.wrong.size() << " of " << report.checked << ": "
                                    << (report.wrong.empty() ? "" : report.wrong[0]);
}

TEST(AccessType, products_of_all_with_all_and_of_equals) {
  Problem p;
  const Id a = p.add(AccessOp::kAccess, {1}, {p.tensor("A", {4, 8})});
  const Id b = p.add(AccessOp::kAccess, {1}, {p.tensor("B", {4, 8})});
  EXPECT_EQ(p.type(p.add(AccessOp::kZip, {0}, {a, b})), "(4, 4 | 2 | 8)");
  EXPECT_EQ(p.type(p.add(AccessOp::kZip, {1}, {a, b})), "(4 | 2 | 8)");
}

TEST(AccessType, sizes_may_have_names) {
  Problem p;
  const Size n = p.sizes.named("N");
  EXPECT_EQ(p.type(p.matmul(p.sizes.mul(16, n), 32, n)), "(16*N, 32 | | )");
  const Id split = p.add(AccessOp::kSplit, {0, 16}, {p.matmul(p.sizes.mul(16, n), 32, n)});
  EXPECT_EQ(p.type(split), "(N, 16, 32 | | )");
}

TEST(AccessType, what_does_not_fit_has_no_type) {
  Problem p;
  const Id a = p.add(AccessOp::kAccess, {1}, {p.tensor("A", {4, 6})});
  const Id b = p.add(AccessOp::kAccess, {1}, {p.tensor("B", {4, 8})});
  const auto refused = [&](AccessOp op, std::vector<int64_t> params, std::vector<Id> children) {
    return p.types.typed_add(p.graph, p.language.op(op, params), children) == kNoId;
  };
  EXPECT_TRUE(refused(AccessOp::kZip, {0}, {a, b}));
  EXPECT_TRUE(refused(AccessOp::kSplit, {0, 3}, {a}));
  EXPECT_TRUE(refused(AccessOp::kMerge, {0}, {a}));
  EXPECT_TRUE(refused(AccessOp::kDot, {}, {a}));
  EXPECT_TRUE(refused(AccessOp::kTranspose, {0, 0}, {a}));
  EXPECT_TRUE(refused(AccessOp::kSlice, {0, 2, 9}, {a}));
  EXPECT_TRUE(refused(AccessOp::kWindow, {0, 2, 1, 1}, {a}));
  EXPECT_TRUE(refused(AccessOp::kAccess, {7}, {a}));
  EXPECT_TRUE(refused(AccessOp::kAccess, {}, {a}));
}

TEST(AccessType, parts_and_turned_axes_of_named_sizes) {
  Problem p;
  const Size n = p.sizes.named("N");
  const Id a = p.tensor("A", {p.sizes.add(n, 4), n, n});
  EXPECT_EQ(p.type(p.add(AccessOp::kSlice, {0, 1, p.sizes.add(n, 1)}, {a})), "( | | N, N, N)");
  EXPECT_EQ(p.type(p.add(AccessOp::kDiagonal, {1}, {a})), "( | | 4 + N, N)");
  EXPECT_EQ(p.type(p.add(AccessOp::kReverse, {0}, {a})), "( | | 4 + N, N, N)");
  const auto refused = [&](AccessOp op, std::vector<int64_t> params) {
    return p.types.typed_add(p.graph, p.language.op(op, params), std::vector<Id>{a}) == kNoId;
  };
  EXPECT_TRUE(refused(AccessOp::kDiagonal, {0}));
  EXPECT_TRUE(refused(AccessOp::kDiagonal, {2}));
  EXPECT_TRUE(refused(AccessOp::kReverse, {3}));
  // Where it depends on N, and where nothing is left.
  EXPECT_TRUE(refused(AccessOp::kSlice, {0, 1, 6}));
  EXPECT_TRUE(refused(AccessOp::kSlice, {1, 1, p.sizes.add(n, 1)}));
  EXPECT_TRUE(refused(AccessOp::kSlice, {0, n, n}));
}

TEST(Evaluation, a_product_of_matrices) {
  Problem p;
  const Id root = p.matmul(2, 2, 2);
  p.graph.rebuild();
  const std::vector<Numbers> tensors = {{{}, {2, 2}, 0, {1, 2, 3, 4}},
                                        {{}, {2, 2}, 0, {5, 6, 7, 8}}};
  std::map<Id, Numbers> values;
  for (Id id = 0; id <= root; ++id) {
    const ENode& node = p.graph.original(id);
    std::vector<const Numbers*> arguments;
    for (int i = 0; i < node.arity(); ++i) arguments.push_back(&values.at(node.children[i]));
    values[id] = evaluate(p.language, node.op, arguments, tensors, {});
  }
  EXPECT_EQ(values[root].values, (std::vector<uint64_t>{19, 22, 43, 50}));
}

TEST(Rules, every_shipped_set_is_sound_on_products_and_convolutions) {
  const std::map<std::string, int64_t> constants = {{"K", 2}, {"L", 0}, {"R", 2}, {"C", 2}};
  for (const std::vector<std::string>& sets :
       std::vector<std::vector<std::string>>{{"canonical", "layout", "systolic"},
                                             {"canonical", "blocking", "systolic"},
                                             {"canonical", "layout", "blocking", "systolic"}}) {
    Problem product;
    product.matmul(4, 4, 4);
    saturate(product.graph, product.rules(sets, constants),
             {.iterations = 6, .nodes = 3'000, .seconds = 1000});
    expect_sound(product);
    Problem convolution;
    convolution.conv2d(2, 4, 4, 2, 2, 1);
    saturate(convolution.graph, convolution.rules(sets, constants),
             {.iterations = 6, .nodes = 3'000, .seconds = 1000});
    expect_sound(convolution);
  }
}

TEST(Rules, im2col_is_found_for_a_convolution) {
  Problem p;
  const Id root = p.conv2d(4, 10, 10, 16, 2, 1);
  const auto report = saturate(
      p.graph, p.rules({"canonical", "layout", "systolic"}, {{"R", 16}, {"C", 16}}), kPlenty);
  EXPECT_EQ(report.stop, StopReason::kSaturated);
  EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
  EXPECT_TRUE(p.holds(root, AccessOp::kSplit));  // of the product over flattened windows
  EXPECT_LE(p.graph.node_count(), 200u);
  expect_sound(p);
}

TEST(Rules, blocking_takes_as_many_nodes_at_any_size) {
  const auto nodes = [](Size n) {
    Problem p;
    p.matmul(n, n, n);
    const auto report = saturate(
        p.graph,
        p.rules({"canonical", "blocking", "systolic"}, {{"K", 16}, {"L", 0}, {"R", 16}, {"C", 16}}),
        kPlenty);
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
    return p.graph.node_count();
  };
  const size_t at_1024 = nodes(1024);
  EXPECT_EQ(nodes(4096), at_1024);
  EXPECT_LE(at_1024, 500u);
}

// Glenside's paper, 5.1: its three kernels as the formulas say, over small numbers.
TEST(Evaluation, the_papers_convolution_product_and_pooling) {
  const int64_t batch = 2, c = 2, h = 5, o = 3, r = 2, stride = 2, steps = 2;
  Problem p;
  const Id images = p.tensor("image", {batch, c, h, h});
  const Id image = p.add(AccessOp::kAccess, {1}, {images});
  const Id rows = p.add(AccessOp::kWindow, {2, r, stride, 1}, {image});
  const Id windows = p.add(AccessOp::kWindow, {4, r, stride, 1}, {rows});
  const Id filters = p.add(AccessOp::kAccess, {1}, {p.tensor("filters", {o, c, r, r})});
  const Id dots = p.add(AccessOp::kDot, {}, {p.add(AccessOp::kZip, {0}, {windows, filters})});
  const Id convolution = p.add(AccessOp::kTranspose, {0, 3, 1, 2}, {dots});
  const Id channels = p.add(AccessOp::kAccess, {2}, {images});
  const Id pool_rows = p.add(AccessOp::kWindow, {2, r, stride, 1}, {channels});
  const Id pool =
      p.add(AccessOp::kReduceMax, {}, {p.add(AccessOp::kWindow, {4, r, stride, 1}, {pool_rows})});
  p.graph.rebuild();
  EXPECT_EQ(p.type(convolution), "(2, 3, 2, 2 | | )");

  std::vector<Numbers> tensors = {{{}, {batch, c, h, h}, 0, {}}, {{}, {o, c, r, r}, 0, {}}};
  for (Numbers& t : tensors)
    for (uint64_t i = 0; i < static_cast<uint64_t>(t.count()); ++i)
      t.values.push_back((i * i + 7 * i + 3) % 11);
  std::map<Id, Numbers> values;
  for (Id id = 0; id <= pool; ++id) {
    const ENode& node = p.graph.original(id);
    std::vector<const Numbers*> arguments;
    for (int i = 0; i < node.arity(); ++i) arguments.push_back(&values.at(node.children[i]));
    values[id] = evaluate(p.language, node.op, arguments, tensors, {});
  }
  const auto pixel = [&](int64_t n, int64_t k, int64_t y, int64_t x) {
    return tensors[0].values[static_cast<size_t>(((n * c + k) * h + y) * h + x)];
  };
  std::vector<uint64_t> sums, maxima;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t q = 0; q < o; ++q)
      for (int64_t y = 0; y < steps; ++y)
        for (int64_t x = 0; x < steps; ++x) {
          uint64_t sum = 0;
          for (int64_t k = 0; k < c; ++k)
            for (int64_t i = 0; i < r; ++i)
              for (int64_t j = 0; j < r; ++j)
                sum += pixel(n, k, stride * y + i, stride * x + j) *
                       tensors[1].values[static_cast<size_t>(((q * c + k) * r + i) * r + j)];
          sums.push_back(sum);
        }
    for (int64_t k = 0; k < c; ++k)
      for (int64_t y = 0; y < steps; ++y)
        for (int64_t x = 0; x < steps; ++x) {
          uint64_t most = 0;
          for (int64_t i = 0; i < r; ++i)
            for (int64_t j = 0; j < r; ++j)
              most = std::max(most, pixel(n, k, stride * y + i, stride * x + j));
          maxima.push_back(most);
        }
  }
  EXPECT_EQ(values[convolution].values, sums);
  EXPECT_EQ(values[pool].values, maxima);
}

// 5.4 as published, by slices and concatenations: a product of 32 is eight of 16, summed and put
// side by side (its figures 6 and 7; no value here has parts of pairs, so rules speak of whole
// products).
TEST(Rules, the_papers_blocking_by_slices) {
  const char* const rules =
      "rule slices-of-rows\n"
      "  (access[?d] ?a) => (concat[0] (slice[0, 0, K] (access[?d.0] ?a))\n"
      "                               (slice[0, K, 2 * K] (access[?d.0] ?a)))\n"
      "  if axis(?a, 0) == 2 * K\n"
      "rule slices-of-items\n"
      "  (access[?d] ?a) => (concat[1] (slice[1, 0, K] (access[?d.0] ?a))\n"
      "                               (slice[1, K, 2 * K] (access[?d.0] ?a)))\n"
      "  if axis(?a, 1) == 2 * K\n"
      "rule slice-of-concat\n"
      "  (slice[?s] (concat[?x] ?a ?b)) =>\n"
      "    (concat[?x.0] (slice[?s.0, ?s.1, ?s.2] ?a) (slice[?s.0, ?s.1, ?s.2] ?b))\n"
      "  if ?s.0 != ?x.0\n"
      "rule left\n"
      "  (dot (zip[?n] (concat[?x] ?a ?b) ?c)) =>\n"
      "    (concat[?x.0] (dot (zip[0] ?a ?c)) (dot (zip[0] ?b ?c)))\n"
      "  if ?n.0 == 0 and ?x.0 < access(?a)\n"
      "rule right\n"
      "  (dot (zip[?n] ?c (concat[?x] ?a ?b))) =>\n"
      "    (concat[?x.0 + access(?c)] (dot (zip[0] ?c ?a)) (dot (zip[0] ?c ?b)))\n"
      "  if ?n.0 == 0 and ?x.0 < access(?a)\n"
      "rule summed\n"
      "  (dot (zip[?n] (concat[?x] ?a ?b) (concat[?y] ?c ?d))) =>\n"
      "    (sum (zip[access(?a) + access(?c)] (dot (zip[0] ?a ?c)) (dot (zip[0] ?b ?d))))\n"
      "  if ?n.0 == 0 and ?x.0 >= access(?a) and ?x.0 - access(?a) == ?y.0 - access(?c)\n";
  for (const int64_t k : {16, 2}) {
    Problem p;
    const Id root = p.matmul(2 * k, 2 * k, 2 * k);
    std::vector<Rule> all = parse_rules(rules, "figure6", p.types, {{"K", k}});
    for (Rule& rule : p.rules({"systolic"}, {{"R", k}, {"C", k}})) all.push_back(std::move(rule));
    const auto report = saturate(p.graph, all, kPlenty, {.schedule = Schedule::kEvery});
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_TRUE(p.holds(root, AccessOp::kConcat));
    // The fewest products, all of k rows; the array would take more rows at once.
    const auto cost = [&](const EGraph& graph, Id id, const ENode& node) {
      const auto kind = p.language.kind(node.op);
      if (kind == AccessOp::kSystolic && p.types.of(graph, id).axis(0) == k) return CostVector{1};
      return CostVector{kind == AccessOp::kDot || kind == AccessOp::kSystolic ? 1e6 : 1e-4};
    };
    const std::vector<Extracted> found = extract(p.graph, root, {.of = cost}, 1);
    ASSERT_EQ(found.size(), 1u);
    size_t products = 0;
    const std::string text = found[0].term.str(p.ops);
    for (size_t at = 0; (at = text.find("systolic", at)) != std::string::npos; ++at) ++products;
    EXPECT_EQ(products, 8u) << text;
    EXPECT_EQ(text.find("dot"), std::string::npos) << text;
    if (k == 2) expect_sound(p);
  }
}

// 5.2: a product of the array's shape is one of its products.
TEST(Rules, a_product_of_the_arrays_shape_is_one_of_its_products) {
  for (const Size n : {16, 4}) {
    Problem p;
    const Id root = p.matmul(n, n, n);
    saturate(p.graph, p.rules({"canonical", "systolic"}, {{"R", n}, {"C", n}}), kPlenty);
    EXPECT_TRUE(p.holds(root, AccessOp::kSystolic));
  }
}

// 5.3 and 5.4 together: a convolution as products of 16 x 16, and of 4 x 4, its sums in blocks.
TEST(Rules, a_convolution_becomes_products_of_an_arrays_shape) {
  for (const Size n : {16, 4}) {
    Problem p;
    p.conv2d(16, 18, 18, 16, 2, 1);
    const auto report = saturate(p.graph,
                                 p.rules({"canonical", "layout", "blocking", "systolic"},
                                         {{"K", n}, {"L", 0}, {"R", n}, {"C", n}}),
                                 {.iterations = 12, .nodes = 20'000, .seconds = 1000});
    EXPECT_NE(report.stop, StopReason::kNodes);
    EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
  }
}

// Sizes that 16 does not divide: padded to it, blocked, cut off.
TEST(Rules, odd_sizes_are_padded_to_the_arrays_shape) {
  Problem p;
  const Id root = p.matmul(17, 30, 9);
  saturate(p.graph,
           p.rules({"canonical", "padding", "blocking", "systolic"},
                   {{"K", 16}, {"L", 0}, {"R", 16}, {"C", 16}}),
           {.iterations = 12, .nodes = 20'000, .seconds = 1000});
  EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
  EXPECT_TRUE(p.holds(root, AccessOp::kSlice));
}

// Blocks of 16 in blocks of 64, at a size with a name.
TEST(Rules, two_levels_of_blocks_need_few_nodes_at_any_size) {
  const auto nodes = [](bool named) {
    Problem p;
    const Size n = named ? p.sizes.mul(64, p.sizes.named("N")) : 1024;
    p.matmul(n, n, n);
    size_t most = 0;
    for (const auto& [k, l] : {std::pair{64, 0}, {16, 64}}) {
      const auto report = saturate(p.graph,
                                   p.rules({"canonical", "blocking", "systolic"},
                                           {{"K", k}, {"L", l}, {"R", 16}, {"C", 16}}),
                                   kPlenty);
      EXPECT_EQ(report.stop, StopReason::kSaturated);
      most = std::max(most, p.graph.node_count());
    }
    EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
    return most;
  };
  EXPECT_LE(nodes(false), 500u);
  EXPECT_LE(nodes(true), 500u);
}

TEST(Rules, two_levels_of_blocks_are_sound) {
  Problem p;
  p.matmul(8, 8, 8);
  for (const auto& [k, l] : {std::pair{4, 0}, {2, 4}})
    EXPECT_EQ(
        saturate(p.graph, p.rules({"canonical", "blocking"}, {{"K", k}, {"L", l}}), kPlenty).stop,
        StopReason::kSaturated);
  expect_sound(p);
}

// Multiplications of a chain by the dynamic program that every textbook has.
double cheapest_chain(const std::vector<Size>& sizes) {
  const size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> best(n, std::vector<double>(n, 0));
  for (size_t length = 2; length <= n; ++length)
    for (size_t i = 0; i + length <= n; ++i) {
      const size_t j = i + length - 1;
      best[i][j] = 1e300;
      for (size_t k = i; k < j; ++k)
        best[i][j] =
            std::min(best[i][j], best[i][k] + best[k + 1][j] +
                                     static_cast<double>(sizes[i] * sizes[k + 1] * sizes[j + 1]));
    }
  return best[0][n - 1];
}

TEST(Rules, chains_of_products_take_their_cheapest_order) {
  std::mt19937 random(3);
  for (size_t factors = 3; factors <= 6; ++factors) {
    Problem p;
    std::vector<Size> sizes;
    for (size_t k = 0; k <= factors; ++k) sizes.push_back(2 + static_cast<Size>(random() % 60));
    Id left = p.add(AccessOp::kAccess, {1}, {p.tensor("A", {sizes[0], sizes[1]})});
    for (size_t k = 1; k < factors; ++k) {
      const Id next =
          p.tensor(std::string(1, static_cast<char>('A' + k)), {sizes[k], sizes[k + 1]});
      const Id columns =
          p.add(AccessOp::kAccess, {1}, {p.add(AccessOp::kTranspose, {1, 0}, {next})});
      if (k > 1) left = p.add(AccessOp::kAccess, {1}, {left});
      left = p.add(AccessOp::kDot, {}, {p.add(AccessOp::kZip, {0}, {left, columns})});
    }
    saturate(p.graph, p.rules({"canonical", "algebraic"}),
             {.iterations = 30, .nodes = 20'000, .seconds = 1000});
    const CostModel multiplications{.of = [&](const EGraph& graph, Id, const ENode& node) {
      CostVector c = {};
      if (p.language.kind(node.op) != AccessOp::kDot) return c;
      const AccessType& type = p.types.of(graph, node.children[0]);
      c[0] = 1;
      for (const Size s : type.access) c[0] *= static_cast<double>(s);
      for (const Size s : type.item) c[0] *= static_cast<double>(s);
      return c;
    }};
    const auto best = extract(p.graph, p.graph.find(left), multiplications, 1);
    ASSERT_FALSE(best.empty());
    EXPECT_EQ(best[0].cost[0], cheapest_chain(sizes)) << factors;
  }
}

TEST(Audit, every_shipped_set_is_sound_on_every_problem) {
  for (const std::vector<std::string>& sets :
       std::vector<std::vector<std::string>>{{"canonical", "layout", "columns"},
                                             {"canonical", "padding", "blocking", "systolic"},
                                             {"canonical", "pooling"},
                                             {"canonical", "algebraic"}}) {
    std::vector<eqsat::RuleText> texts;
    for (const std::string& set : sets) texts.push_back({set, shipped(set)});
    for (const AuditRow& row : audit_rules(texts, {{"K", 2}, {"L", 0}, {"R", 2}, {"C", 2}},
                                           {.iterations = 5, .nodes = 800, .seconds = 1000}))
      EXPECT_TRUE(row.wrong.empty()) << row.problem << ": " << row.wrong.size() << " of "
                                     << row.checked << ", " << row.wrong.front();
  }
}

TEST(Rules, blocking_of_named_sizes) {
  Problem p;
  const Size n = p.sizes.mul(16, p.sizes.named("N"));
  p.matmul(n, n, n);
  saturate(
      p.graph,
      p.rules({"canonical", "blocking", "systolic"}, {{"K", 16}, {"L", 0}, {"R", 16}, {"C", 16}}),
      kPlenty);
  EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
}

TEST(Rules, pooling_in_two_steps) {
  Problem p;
  const Id image = p.add(AccessOp::kAccess, {1}, {p.tensor("image", {3, 4, 4})});
  const Id rows = p.add(AccessOp::kWindow, {1, 2, 2, 1}, {image});
  const Id windows = p.add(AccessOp::kWindow, {3, 2, 2, 1}, {rows});
  const Id root = p.add(AccessOp::kReduceMax, {}, {windows});
  saturate(p.graph, p.rules({"canonical", "pooling"}), kPlenty);
  EXPECT_GE(p.graph.nodes(root).size(), 2u);
  // The maxima of rows, of which windows are made: shared by neighbours.
  bool shared = false;
  for (const Id id : p.graph.classes())
    if (p.holds(id, AccessOp::kReduceMax) &&
        p.types.of(p.graph, id).access == std::vector<Size>{3, 2, 4})
      shared = true;
  EXPECT_TRUE(shared);
  expect_sound(p);
}

// The three published rules that are unsound, in this language's words: each is caught.
TEST(Audit, planted_unsound_rules_are_caught) {
  const auto wrong = [](const char* rule, const std::function<void(Problem&)>& start) {
    Problem p;
    start(p);
    const std::vector<Rule> rules = parse_rules(rule, "planted", p.types);
    saturate(p.graph, rules, {.iterations = 3, .nodes = 3'000, .seconds = 1000});
    return !audit(p.graph, p.types).wrong.empty();
  };
  // A product of sums for a sum of products: what flattening the tuple into the item does.
  EXPECT_TRUE(wrong("rule tuple-as-item\n (dot ?a) => (rsum (sum ?a))",
                    [](Problem& p) { p.matmul(2, 2, 2); }));
  // Concatenation along the item, summed as if it were concatenated along the access axis.
  EXPECT_TRUE(wrong("rule parts-of-a-sum\n (rsum (concat[?x] ?a ?b)) => (rsum ?a)", [](Problem& p) {
    const Id a = p.add(AccessOp::kAccess, {1}, {p.tensor("A", {2, 2})});
    const Id b = p.add(AccessOp::kAccess, {1}, {p.tensor("B", {2, 2})});
    p.add(AccessOp::kReduceSum, {}, {p.add(AccessOp::kConcat, {1}, {a, b})});
  }));
  // Maxima of windows that leave the last element out.
  EXPECT_TRUE(
      wrong("rule windows-of-a-maximum\n (rmax ?a) => "
            "(rmax (access[access(?a)] (rmax (window[access(?a), 3, 2, 1] ?a))))",
            [](Problem& p) {
              const Id a = p.add(AccessOp::kAccess, {1}, {p.tensor("A", {32, 6})});
              p.add(AccessOp::kReduceMax, {}, {a});
            }));
}

// Right types, and wrong: each meets a problem that shows it.
TEST(Audit, subtly_wrong_rules_are_caught) {
  const char* const rules[] = {
      // One side's items in another order than the other's.
      "rule a\n (dot (zip[?n] ?a ?b)) =>\n"
      " (dot (zip[?n] (transpose[moved(rank(?a), rank(?a) - 1, rank(?a) - 2)] ?a) ?b))\n"
      " if items(?a) >= 2",
      // A product transposed with its factors as they were.
      "rule a\n (dot (zip[?n] ?a ?b)) => (transpose[1, 0] (dot (zip[?n] ?a ?b)))",
      // What is padded with zeros has the same maximum, if nothing is below them.
      "rule a\n (rmax (pad[?p] ?a)) => (rmax ?a)",
      "rule a\n (rmin (pad[?p] ?a)) => (rmin ?a)",
      // The second part of a sum forgotten.
      "rule a\n (rsum (concat[?x] ?a ?b)) => (rsum ?a)",
      // Rectified before it is added up.
      "rule a\n (relu (sum (zip[?n] ?a ?b))) => (sum (zip[?n] (relu ?a) (relu ?b)))",
      "rule a\n (negate (relu ?a)) => (relu (negate ?a))",
      // Blocks taken together the other way around.
      "rule a\n (dot (zip[?n] ?a ?b)) => (dot (zip[?n]\n"
      " (merge[0] (transpose[moved(rank(?a) + 1, 1, 0)] (split[0, 2] ?a))) ?b))\n"
      " if ?n.0 == 0 and axis(?a, 0) == 4",
      // Every second window of those that are one apart, from the first on.
      "rule a\n (window[?w] ?a) => (window[?w.0, ?w.1, ?w.2, 2] ?a)\n if ?w.3 == 1 and ?w.1 == 2",
      "rule a\n (reverse[?x] ?a) => ?a",
      "rule a\n (diagonal[?x] ?a) => (squeeze[?x.0 + 1] (slice[?x.0 + 1, 0, 1] ?a))",
  };
  for (const char* rule : rules) {
    size_t wrong = 0;
    for (const AuditRow& row :
         audit_rules({{"wrong.rules", rule}, {"canonical", shipped("canonical")}},
                     {{"K", 2}, {"L", 0}, {"R", 2}, {"C", 2}},
                     {.iterations = 3, .nodes = 400, .seconds = 1000}))
      wrong += row.wrong.size();
    EXPECT_GT(wrong, 0u) << rule;
  }
  // Rows and columns of windows in another order, and nobody says so: of one type where the windows
  // are as many.
  std::string pooling = shipped("pooling");
  const std::string swap = "moved(rank(?a) + 2, access(?a) + 1, access(?a))";
  pooling.replace(pooling.find(swap), swap.size(), "moved(rank(?a) + 2, access(?a), access(?a))");
  size_t wrong = 0;
  for (const AuditRow& row :
       audit_rules({{"canonical", shipped("canonical")}, {"pooling", pooling}}, {},
                   {.iterations = 5, .nodes = 800, .seconds = 1000}))
    wrong += row.wrong.size();
  EXPECT_GT(wrong, 0u);
}

TEST(RuleText, errors_name_file_line_and_column) {
  Problem p;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      parse_rules(text, "x.rules", p.types);
    } catch (const InputError& e) {
      return e.diagnostic().where.str() + " " + e.diagnostic().message.str() +
             (e.diagnostic().hint.empty() ? " (no hint)" : "");
    }
    return "none";
  };
  EXPECT_EQ(error("# first\n\n  rule a\n    (dot (zip[?n] ?a ?b) => ?a\n"),
            "x.rules:4:25 `)` is missing");
  EXPECT_EQ(error("rule a\n  (dot ?a) =>\n    (access[axes(?a)] ?a)"),
            "x.rules:3:18 there is no function called `axes`");
  EXPECT_EQ(error("rule a\n  (dot ?a) => ?a\n  if items(?a) == Q"),
            "x.rules:3:20 there is no constant called `Q`");
  EXPECT_EQ(error("rule a\n  (dott ?a) => ?a"), "x.rules:2:4 there is no operator called `dott`");
  EXPECT_EQ(error("rule a\n  (dot ?a) => (zip[0] ?a)"), "x.rules:2:26 `zip` takes 2 arguments");
  EXPECT_EQ(error("  rule\n  (dot ?a) => ?a"), "x.rules:1:3 the rule has no name");
}

TEST(RuleText, errors_name_file_and_line) {
  Problem p;
  for (const char* text :
       {"(f ?a) => ?a", "rule a\n (dot ?a)", "rule a\n (dot ?a) => ?b",
        "rule a\n (dot ?a) => (dot[?q.0] ?a)", "rule a\n (dot ?a) => ?a\n if access(?a",
        "rule a\n (dot ?a) => ?a\n if nosuch(?a)", "rule a\n (dot ?a) => ?a\n if access(3)",
        "rule a\n (dot ?a) => ?a\n if 1 == 1 1", "rule a\n (dot ?a) => ?a\n if ?a == 1",
        "rule a\n (access[?a] ?a) => ?a", "rule a\n (access[?d] ?a) => ?d",
        "rule a\n (access[?d] ?a) => ?a\n if rank(?d) == 1", "rule a\n (dot ?a => ?a"})
    EXPECT_THROW(parse_rules(text, "x.rules", p.types), InputError) << text;
}

}  // namespace
}  // namespace exotune::eqsat
