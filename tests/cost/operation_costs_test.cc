#include "cost/operation_costs.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

TargetPtr avx2() { return load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"}); }

Work work(const std::string& text) {
  const Module module = parse_module("@proc\n" + text, "t.exo");
  return work_of(*module.user_procs().back());
}

TEST(OperationCosts, are_those_of_the_instruction_that_does_nothing_else) {
  const auto costs = operation_costs(*avx2(), ScalarType::kF32);
  EXPECT_DOUBLE_EQ(costs.at("fma"), 0.5 / 8);
  EXPECT_DOUBLE_EQ(costs.at("+"), 0.5 / 8);
  EXPECT_DOUBLE_EQ(costs.at("/"), 4.0 / 8) << "by an estimate";
  EXPECT_DOUBLE_EQ(costs.at("sqrt"), 4.0 / 8) << "by an estimate";
  EXPECT_GT(costs.at("exp"), costs.at("/"));
  EXPECT_DOUBLE_EQ(operation_costs(*avx2(), ScalarType::kF64).at("fma"), 0.5 / 4);
}

TEST(OperationCosts, a_figure_stands_before_the_text) {
  InstructionFigures figures;
  for (const char* name :
       {"mm256_div_ps", "mm256_div_to_ps", "mm256_reciprocal_ps", "mm256_div_by_estimate_ps",
        "mm256_div_to_by_estimate_ps", "mm256_reciprocal_by_estimate_ps"})
    figures[name] = {8, 12, FigureSource::kMeasured};
  EXPECT_DOUBLE_EQ(operation_costs(*avx2(), ScalarType::kF32, figures).at("/"), 1);
}

TEST(OperationCosts, a_sum_of_minima_takes_twice_as_long_as_one_of_products) {
  const auto costs = operation_costs(*avx2(), ScalarType::kF32);
  const std::string head = "def f(n: size, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n";
  const SizeBinding sizes = {{"n", 800}};
  EXPECT_DOUBLE_EQ(operation_cycles(work(head + "        y[i] += x[i] * x[i]\n"), sizes, costs),
                   50);
  EXPECT_DOUBLE_EQ(operation_cycles(work(head + "        y[i] min= x[i] + x[i]\n"), sizes, costs),
                   100);
  // What no instruction does is not dearer than what some do.
  EXPECT_DOUBLE_EQ(
      operation_cycles(work(head + "        y[i] = sqrt(x[i])\n"), sizes, {{"fma", 1}}), 800);
}

TEST(OperationCosts, nothing_is_known_without_a_multiply_add_or_a_count) {
  EXPECT_EQ(operation_cycles(work("def f(x: f32[8]):\n    x[0] += 1.0\n"), {}, {{"+", 1}}), 0);
  EXPECT_EQ(operation_cycles({}, {}, operation_costs(*avx2(), ScalarType::kF32)), 0);
}

}  // namespace
}  // namespace exotune
