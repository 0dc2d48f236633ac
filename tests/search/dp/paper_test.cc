// The paper's machine, stated as a target folder: optima of its cost model.
#include <gtest/gtest.h>

#include <map>

#include "search/dp/dp.h"
#include "search/dp/relaxed_floor.h"

namespace exotune {
namespace {

class Paper {
 public:
  explicit Paper(const DpRules& rules = paper_rules(), SolverOptions options = {})
      : machine_(machine_of(*load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {}))),
        space_(machine_, rules, kinds_, layouts_),
        solver_(space_, memo_, std::move(options)) {}

  Spec matmul(uint32_t m, uint32_t k, uint32_t n, ScalarType type = ScalarType::kI32) {
    const Subscript i{{0, 1}}, p{{1, 1}}, j{{2, 1}};
    SpecKind kind{"+= $0 * $1",         true,
                  {false, true, false}, {{type, {i, p}}, {type, {p, j}}, {type, {i, j}}},
                  {{0, 1}, {1, 0}},     "0"};
    Spec spec;
    spec.kind = static_cast<uint16_t>(kinds_.initializing(kinds_.id(kind)));
    spec.extents = {m, k, n};
    for (int o = 0; o < 3; ++o) {
      const OperandShape shape = operand_shape(kind.operands[o], spec.extents.data());
      spec.operands[o] = {static_cast<uint8_t>(machine_.outermost()), 0,
                          layouts_.id(TensorLayout::row_major(shape))};
    }
    return spec;
  }
  int64_t cost(const Spec& spec) {
    const std::optional<MemoValue> value = solver_.solve(spec);
    return value && !value->best.empty() ? value->best.front().cost.units : -1;
  }
  std::string plan(const Spec& spec) {
    return str(solver_.plan(spec, space_.codes().all()), space_);
  }

  SpecKinds kinds_;
  LayoutPool layouts_;
  DpMachine machine_;
  ActionSpace space_;
  BoxMemo memo_;
  SpecSolver solver_;
};

TEST(DpPaper, matmul_of_one_element_costs_75) {
  Paper paper;
  const Spec spec = paper.matmul(1, 1, 1);
  EXPECT_EQ(paper.cost(spec), 75) << paper.plan(spec);
}

TEST(DpPaper, matmul_of_two_costs_127) {
  Paper paper;
  const Spec spec = paper.matmul(2, 2, 2);
  EXPECT_EQ(paper.cost(spec), 127) << paper.plan(spec);
}

TEST(DpPaper, larger_products_have_one_optimum_under_all_rules) {
  const std::map<uint32_t, int64_t> expected = {
      {4, 130}, {8, 496}, {16, 2688}, {32, 17024}, {64, 117248}};
  for (const auto& [n, cost] : expected)
    for (const Relayout relayout :
         {Relayout::kNever, Relayout::kOnceForAll, Relayout::kOnce, Relayout::kAlways}) {
      DpRules rules = paper_rules();
      rules.relayout = relayout;
      Paper paper(rules);
      EXPECT_EQ(paper.cost(paper.matmul(n, n, n)), cost) << rules.str();
    }
}

TEST(DpPaper, a_product_whose_sides_are_no_powers_of_two) {
  Paper paper;
  EXPECT_EQ(paper.cost(paper.matmul(3, 5, 2)), 242);
}

// Copies within a level never pay in this model at sizes where both rule sets finish quickly.
TEST(DpPaper, restricted_rules_find_the_same_optimum) {
  for (const auto& [m, k, n] :
       {std::array{1u, 1u, 1u}, {2u, 2u, 2u}, {1u, 4u, 2u}, {3u, 2u, 1u}, {4u, 4u, 4u}}) {
    Paper full;
    const int64_t expected = full.cost(full.matmul(m, k, n));
    EXPECT_GT(expected, 0);
    for (const Relayout relayout : {Relayout::kNever, Relayout::kOnce}) {
      DpRules rules = paper_rules();
      rules.relayout = relayout;
      Paper restricted(rules);
      EXPECT_EQ(restricted.cost(restricted.matmul(m, k, n)), expected) << m << "x" << k << "x" << n;
    }
  }
}

// Without bounds and floors every action is worked out to the end; the answer is the same.
TEST(DpPaper, pruning_changes_no_optimum) {
  for (const auto& [m, k, n] : {std::array{1u, 1u, 1u}, {2u, 2u, 2u}, {1u, 3u, 2u}}) {
    for (const Relayout relayout : {Relayout::kNever, Relayout::kOnceForAll}) {
      DpRules rules = paper_rules();
      rules.relayout = relayout;
      SolverOptions exhaustive, simple;
      exhaustive.prune = false;
      simple.relaxed_floor = false;
      Paper pruned(rules), plain(rules, exhaustive), bounded(rules, simple);
      const int64_t expected = plain.cost(plain.matmul(m, k, n));
      EXPECT_EQ(pruned.cost(pruned.matmul(m, k, n)), expected);
      EXPECT_EQ(bounded.cost(bounded.matmul(m, k, n)), expected);
    }
  }
}

// The bound that pruning rests on, at every Spec and limit that a search met.
TEST(DpPaper, the_relaxed_floor_is_below_every_optimum) {
  DpRules rules = paper_rules();
  rules.relayout = Relayout::kOnceForAll;
  SolverOptions exhaustive;
  exhaustive.prune = false;
  Paper plain(rules, exhaustive);
  plain.cost(plain.matmul(2, 2, 2));
  RelaxedFloor floor(plain.space_, {});
  int compared = 0, tight = 0;
  plain.memo_.visit([&](const Spec& spec, const BoxMemo::Box& box, const MemoValue& value) {
    const int64_t optimum = value.best.empty() ? kNoCost : value.best.front().cost.units;
    const int64_t below = floor.of(spec, box.high).value();
    EXPECT_LE(below, optimum);
    ++compared;
    tight += below == optimum;
  });
  EXPECT_GT(compared, 1000);
  EXPECT_GT(tight, compared / 10);
}

}  // namespace
}  // namespace exotune
