// Reductions with many accumulators, against the interpreter.
#include "core/library/reduction.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr dot() {
  return parse_module(
             "def dot(n: size, x: [f32][n], y: [f32][n], r: f32):\n"
             "    r = 0.0\n    for i in seq(0, n):\n        r += x[i] * y[i]\n",
             "test.exo")
      .procs.back();
}

double value(const ProcPtr& p, int64_t n) {
  std::vector<double> a, b;
  for (int64_t i = 0; i < n; ++i) {
    a.push_back(static_cast<double>(i % 7) - 3);
    b.push_back(static_cast<double>(i % 5) + 1);
  }
  Buffer x(ScalarType::kF32, {n}, a), y(ScalarType::kF32, {n}, b), r(ScalarType::kF32, {});
  run(*p, {n, &x, &y, &r});
  return r.data[0];
}

TEST(Reduction, iterations_side_by_side_sum_the_same) {
  const ProcPtr p = dot();
  for (int64_t factor : {2, 4, 8}) {
    const ProcPtr q = interleave_reduction(p, "i", factor, "sum");
    EXPECT_TRUE(reassociates(q));
    for (int64_t n : {1, 2, 3, 7, 8, 9, 31})
      EXPECT_EQ(value(q, n), value(p, n)) << factor << " " << n;
  }
}

TEST(Reduction, each_accumulator_is_a_scalar_of_its_own) {
  const std::string text = str(*interleave_reduction(dot(), "i", 4, "sum"));
  EXPECT_NE(text.find("sum_3 += x[4 * io + 3] * y[4 * io + 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("sum_rest += "), std::string::npos) << text;
  EXPECT_EQ(text.find("sum : f32[4]"), std::string::npos) << text;
}

TEST(Reduction, sums_beside_one_another_are_summed_each_in_its_lanes) {
  const ProcPtr p = parse_module(
                        "def both(x: f32[24], r: f32[2]):\n"
                        "    for i in seq(0, 6):\n        for l in seq(0, 4):\n"
                        "            r[0] += x[4 * i + l]\n"
                        "            r[1] += x[4 * i + l] * x[4 * i + l]\n",
                        "test.exo")
                        .procs.back();
  const ProcPtr q = parallelize_reduction(p, "i", "sums", dram_stack());
  EXPECT_TRUE(reassociates(q));
  EXPECT_NE(str(*q).find("sums[l] += x["), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("sums_1[l] += x["), std::string::npos) << str(*q);
  Buffer x(ScalarType::kF32, {24}), a(ScalarType::kF32, {2}, {1, 2}), b = a;
  for (size_t k = 0; k < 24; ++k) x.data[k] = static_cast<double>(k % 7);
  run(*p, {&x, &a});
  run(*q, {&x, &b});
  EXPECT_EQ(a.data, b.data);
}

TEST(Reduction, lanes_without_a_sum_in_common_are_refused) {
  const ProcPtr p = parse_module(
                        "def two(x: f32[24], y: f32[24], r: f32):\n"
                        "    for i in seq(0, 6):\n        for l in seq(0, 4):\n"
                        "            y[4 * i + l] = x[4 * i + l]\n"
                        "            x[4 * i + l] = 0.0\n",
                        "test.exo")
                        .procs.back();
  EXPECT_THROW((void)parallelize_reduction(p, "i", "sums", dram_stack()), SchedulingError);
}

TEST(Reduction, what_is_no_sum_into_one_element_is_refused) {
  const ProcPtr p = parse_module(
                        "def f(n: size, x: [f32][n], r: [f32][n]):\n"
                        "    for i in seq(0, n):\n        r[i] = x[i]\n",
                        "test.exo")
                        .procs.back();
  EXPECT_THROW(interleave_reduction(p, "i", 4, "sum"), SchedulingError);
}

TEST(Reduction, several_sums_are_not_interleaved_as_one) {
  const ProcPtr p = parse_module(
                        "def f(n: size, x: [f32][n], r: f32[2]):\n"
                        "    for i in seq(0, n):\n        r[0] += x[i]\n        r[1] += x[i]\n",
                        "test.exo")
                        .procs.back();
  for (const int64_t factor : {1, 3})
    EXPECT_THROW(interleave_reduction(p, "i", factor, "sum"), SchedulingError);
}

}  // namespace
}  // namespace exotune
