// Sizes that stand for larger ones.
#include "search/smaller_run.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

ProcPtr product(const std::string& asserted) {
  return parse_module("@proc\ndef f(K: size, M: size, x: f32[M, K], y: f32[M]):\n" + asserted +
                          "    for i in seq(0, M):\n        for k in seq(0, K):\n"
                          "            y[i] += x[i, k] * x[i, k]\n",
                      "f.exo")
      .procs.back();
}
const SizeFormula kOperations("2*M*K");

TEST(SmallerRun, outer_loops_become_shorter_first) {
  const SmallerRun run = smaller_run(product(""), kOperations, {{"M", 512}, {"K", 64}}, 4096);
  EXPECT_EQ(run.sizes, (SizeBinding{{"M", 32}, {"K", 64}}));
  EXPECT_EQ(run.times, 16);
}

TEST(SmallerRun, what_the_kernel_asserts_holds_at_the_smaller_sizes) {
  const SmallerRun run =
      smaller_run(product("    assert M % 64 == 0\n"), kOperations, {{"M", 512}, {"K", 64}}, 4096);
  EXPECT_EQ(run.sizes, (SizeBinding{{"M", 64}, {"K", 32}}));
  EXPECT_EQ(run.times, 16);
}

TEST(SmallerRun, what_is_small_runs_as_it_is) {
  const SizeBinding sizes = {{"M", 32}, {"K", 32}};
  EXPECT_EQ(smaller_run(product(""), kOperations, sizes, 4096).times, 1);
  EXPECT_EQ(smaller_run(product(""), SizeFormula(), {{"M", 512}, {"K", 64}}, 4096).times, 1);
}

}  // namespace
}  // namespace exotune
