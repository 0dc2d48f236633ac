// Loops in C, timed and estimated. How fast this machine is plays no part.
#include "runners/loop_timing.h"

#include <gtest/gtest.h>

#include "runners/line_timing.h"
#include "runners/loop_estimate.h"

namespace exotune {
namespace {

LoopTimingOptions quick() {
  LoopTimingOptions options;
  options.batch_seconds = 1e-5;
  options.batches = 3;
  options.timeout_seconds = 2;
  return options;
}

LoopUnit unit(const std::string& name, const std::string& body) {
  LoopUnit u;
  u.globals = {"#include <stdint.h>"};
  u.text = "void " + name + "(int64_t steps, char* m) {\n  int64_t x = steps;\n" +
           "  for (int64_t i = 0; i < steps; ++i) {\n    __asm__ volatile(\"# LLVM-MCA-BEGIN " +
           name + "\");\n" + body + "\n    __asm__ volatile(\"# LLVM-MCA-END " + name +
           "\");\n  }\n  *(int64_t*)m = x;\n}\n";
  u.functions = {{name, 4}};
  return u;
}
const char* const kFourProducts =
    "x *= 3; __asm__ volatile(\"\" : \"+r\"(x)); x *= 3; __asm__ volatile(\"\" : \"+r\"(x));"
    "x *= 3; __asm__ volatile(\"\" : \"+r\"(x)); x *= 3; __asm__ volatile(\"\" : \"+r\"(x));";

TEST(LoopTiming, one_that_fails_leaves_the_others) {
  const std::vector<LoopUnit> units = {
      unit("good", kFourProducts), unit("trap", "__builtin_trap();"),
      unit("wrong", "no_such_type y;"), unit("endless", "for (;;) __asm__ volatile(\"\");"),
      unit("fine", kFourProducts)};
  const LoopTimings t = time_loops(units, plain_toolchain(), quick());
  ASSERT_EQ(t.size(), 5u);
  for (const size_t k : {0u, 4u}) {
    EXPECT_GT(t[k][0].cycles, 0) << k;
    EXPECT_EQ(t[k][0].cause, "") << k;
  }
  EXPECT_EQ(t[1][0].cycles, 0);
  EXPECT_NE(t[1][0].cause.find("SIG"), std::string::npos) << t[1][0].cause;
  EXPECT_EQ(t[2][0].cause, "does not compile");
  EXPECT_EQ(t[3][0].cause, "timed out");
}

TEST(LoopTiming, equal_globals_stand_once) {
  LoopUnit a = unit("a", ""), b = unit("b", "");
  const std::string text = text_of({a, b}, plain_toolchain());
  EXPECT_EQ(text.find("#include <stdint.h>"), text.rfind("#include <stdint.h>"));
  EXPECT_LT(text.find("void a("), text.find("void b("));
}

TEST(LineTiming, every_level_and_memory_have_a_cost) {
  LoopTimingOptions options = quick();
  const std::vector<double> lines =
      time_lines({32 << 10, 256 << 10}, 64, 16, plain_toolchain(), options);
  ASSERT_EQ(lines.size(), 3u);
  for (const double cycles : lines) EXPECT_GT(cycles, 0);
}

TEST(LoopEstimate, a_chain_takes_its_latencies_and_what_is_wrong_is_left_out) {
  const LoopTimings t = estimate_loops(
      {unit("chain", kFourProducts), unit("wrong", "no_such_type y;")}, plain_toolchain());
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t[1][0].cycles, 0);
  if (!can_estimate()) {
    EXPECT_EQ(t[0][0].cause, "llvm-mca is not installed");
    GTEST_SKIP() << "llvm-mca is not installed";
  }
  EXPECT_GE(t[0][0].cycles, 1);  // x *= 3 is at least an addition
  EXPECT_LE(t[0][0].cycles, 6);
  EXPECT_EQ(t[1][0].cause, "does not compile");
}

}  // namespace
}  // namespace exotune
