// Access patterns: types, meaning, and what the shipped rules find, each rule set audited.
#include "search/eqsat/access.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "core/base/diagnostic.h"
#include "search/eqsat/evaluation.h"
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
  const std::map<std::string, int64_t> constants = {{"K", 2}, {"R", 2}, {"C", 2}};
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
        p.graph, p.rules({"canonical", "blocking", "systolic"}, {{"K", 16}, {"R", 16}, {"C", 16}}),
        kPlenty);
    EXPECT_EQ(report.stop, StopReason::kSaturated);
    EXPECT_TRUE(p.anywhere(AccessOp::kSystolic));
    return p.graph.node_count();
  };
  const size_t at_1024 = nodes(1024);
  EXPECT_EQ(nodes(4096), at_1024);
  EXPECT_LE(at_1024, 500u);
}

TEST(Rules, blocking_of_named_sizes) {
  Problem p;
  const Size n = p.sizes.mul(16, p.sizes.named("N"));
  p.matmul(n, n, n);
  saturate(p.graph,
           p.rules({"canonical", "blocking", "systolic"}, {{"K", 16}, {"R", 16}, {"C", 16}}),
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
  EXPECT_EQ(p.graph.nodes(root).size(), 2u);
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

TEST(RuleText, errors_name_file_and_line) {
  Problem p;
  for (const char* text :
       {"(f ?a) => ?a", "rule a\n (dot ?a)", "rule a\n (dot ?a) => ?b",
        "rule a\n (dot ?a) => (dot[?q.0] ?a)", "rule a\n (dot ?a) => ?a\n if access(?a",
        "rule a\n (dot ?a) => ?a\n if nosuch(?a)", "rule a\n (dot ?a) => ?a\n if access(3)",
        "rule a\n (dot ?a) => ?a\n if 1 == 1 1", "rule a\n (dot ?a => ?a"})
    EXPECT_THROW(parse_rules(text, "x.rules", p.types), InputError) << text;
}

}  // namespace
}  // namespace exotune::eqsat
