// The paper's machine, stated as a target folder: optima of its cost model.
#include <gtest/gtest.h>

#include "search/dp/dp.h"

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
    DpRules rules = paper_rules();
    rules.relayout = Relayout::kNever;
    SolverOptions exhaustive;
    exhaustive.prune = false;
    Paper pruned(rules), plain(rules, exhaustive);
    EXPECT_EQ(pruned.cost(pruned.matmul(m, k, n)), plain.cost(plain.matmul(m, k, n)));
  }
}

}  // namespace
}  // namespace exotune
