#include "search/bounds.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

ProcPtr proc(const std::string& text) { return parse_module(text, "t.exo").user_procs().back(); }

CostWeights weights() {
  CostMachine machine;
  machine.caches = {{32768, 64, 4}, {1 << 20, 64, 8}};
  return default_weights(machine);
}

// Of four lanes: two loads, a sum and a store for each.
const char* const kVectors = R"(
@memory
class REG:
    kind = "vector"
    bytes = 16
    count = 8
    c_types = {"f32": "v4"}

@instr("load", cost = 0.5)
def load(dst: [f32][4] @ REG, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("store", cost = 1)
def store(dst: [f32][4] @ DRAM, src: [f32][4] @ REG):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("add", cost = 0.5)
def add(dst: [f32][4] @ REG, a: [f32][4] @ REG, b: [f32][4] @ REG):
    for i in seq(0, 4):
        dst[i] = a[i] + b[i]

@proc
def f(x: f32[400], y: f32[400], z: f32[400]):
    for i in seq(0, 100):
        a: f32[4] @ REG
        b: f32[4] @ REG
        c: f32[4] @ REG
        load(a[0:4], x[4 * i:4 * i + 4])
        load(b[0:4], y[4 * i:4 * i + 4])
        add(c[0:4], a[0:4], b[0:4])
        store(z[4 * i:4 * i + 4], c[0:4])
)";

TEST(Bounds, shares_are_of_the_parts_that_a_schedule_needs) {
  // 100 cycles of loads, 100 of stores, 50 of sums, in 200.
  std::map<std::string, double> percent;
  for (const ResourceShare& s : resource_shares(*proc(kVectors), {}, weights(), 200))
    percent[s.name] = s.percent;
  const std::map<std::string, double> expected = {
      {"loads", 50}, {"stores", 50}, {"arithmetic", 25}};
  EXPECT_EQ(percent, expected);
}

TEST(Bounds, the_busiest_part_comes_first_and_small_ones_are_left_out) {
  const auto shares = resource_shares(*proc(kVectors), {}, weights(), 600);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_GE(shares[0].percent, shares[1].percent);
}

TEST(Bounds, loops_without_instructions_are_the_compilers) {
  const auto shares = resource_shares(
      *proc("@proc\ndef f(x: f32[4000], y: f32[4000]):\n    for i in seq(0, 4000):\n"
            "        y[i] = x[i] + 1.0\n"),
      {}, weights(), 1000);
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares[0].name, "loops left to the compiler");
}

TEST(Bounds, nothing_is_told_without_a_time) {
  EXPECT_TRUE(resource_shares(*proc(kVectors), {}, weights(), 0).empty());
}

TEST(Bounds, traffic_is_counted_from_the_text_else_all_of_the_formula_comes_in) {
  KernelEntry kernel;
  kernel.bytes = SizeFormula("100*n");
  const ProcPtr known = proc(
      "@proc\ndef f(n: size, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n        y[i] += "
      "x[i]\n");
  const Traffic t = traffic_of(*known, kernel, {{"n", 10}});
  EXPECT_EQ(t.read, 40);
  EXPECT_EQ(t.updated, 40);
  EXPECT_EQ(t.moved(), 120);
  const ProcPtr unknown =
      proc("@proc\ndef f(n: size, x: f32[n]):\n    y = x[0:n]\n    y[0] = 1.0\n");
  EXPECT_EQ(traffic_of(*unknown, kernel, {{"n", 10}}).read, 1000);
}

}  // namespace
}  // namespace exotune
