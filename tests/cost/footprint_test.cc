// Lines that loops bring into caches, against counts made by hand.
#include "cost/footprint.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

LineCount lines(const std::string& text, int64_t cache, int line = 64) {
  const Module m = parse_module(text, "touched.exo");
  return Footprints(*m.procs.back(), {}).traffic(cache, line);
}

TEST(Footprint, what_fits_is_brought_in_by_no_run_but_the_first) {
  const std::string text = R"(
@proc
def f(x: f32[8192], y: f32[8192]):
    for i in seq(0, 8192):
        y[i] = x[i]
)";
  EXPECT_DOUBLE_EQ(lines(text, 131072).all, 0);
  EXPECT_NEAR(lines(text, 1024).all, 1024, 2);
  EXPECT_LT(lines(text, 1024).scattered, 100);
}

TEST(Footprint, a_cache_forgets_gradually) {
  const std::string text = R"(
@proc
def f(x: f32[1024]):
    for i in seq(0, 1024):
        x[i] = 0.0
)";
  double before = 1e9;
  for (const int64_t cache : {1024, 2048, 3400, 4096, 5000, 6000}) {
    const double now = lines(text, cache).all;
    EXPECT_LE(now, before) << cache;
    before = now;
  }
  EXPECT_NEAR(lines(text, 2048).all, 64, 1);
  EXPECT_DOUBLE_EQ(lines(text, 6000).all, 0);
}

TEST(Footprint, a_row_used_again_stays_and_columns_cost_a_line_each) {
  const std::string row = R"(
@proc
def f(x: f32[64], y: f32[4096]):
    for i in seq(0, 4096):
        for j in seq(0, 64):
            y[i] += x[j]
)";
  EXPECT_NEAR(lines(row, 4096).all, 256, 10);
  const std::string column = R"(
@proc
def f(x: f32[4096, 17], y: f32[1]):
    for i in seq(0, 4096):
        y[0] += x[i, 3]
)";
  const LineCount far = lines(column, 4096);
  EXPECT_NEAR(far.all, 4096, 10);
  EXPECT_NEAR(far.scattered, far.all, 10);
}

TEST(Footprint, rows_a_power_of_two_apart_crowd_the_same_sets) {
  const auto text = [](int width) {
    return "\n@proc\ndef f(x: f32[64, " + std::to_string(width) +
           "], y: f32[100]):\n    for k in seq(0, 100):\n        for i in seq(0, 64):\n"
           "            y[k] += x[i, 0]\n";
  };
  // 64 lines in a cache of 512: they stay unless they share eight ways.
  EXPECT_LT(lines(text(1040), 32768).all, 100);
  EXPECT_GT(lines(text(1024), 32768).all, 2000);
}

// A row, a column and an element of one array, far apart: what lies between them is not touched.
TEST(Footprint, accesses_of_one_array_are_told_apart) {
  const auto text = [](const std::string& args, const std::string& sum) {
    return "\n@proc\ndef f(" + args +
           "):\n    for i in seq(0, 200):\n        for j in seq(0, i):\n"
           "            for k in seq(0, j):\n                " +
           sum + "\n";
  };
  const double one = lines(text("A: f64[200, 200]", "A[i, j] += A[i, k] * A[k, j]"), 32768).all;
  const double three = lines(text("A: f64[200, 200], B: f64[200, 200], C: f64[200, 200]",
                                  "C[i, j] += A[i, k] * B[k, j]"),
                             32768)
                           .all;
  EXPECT_GT(one, 0.5 * three);
  EXPECT_LT(one, 2 * three);
}

// Equal but for constants: one box, however many statements.
TEST(Footprint, neighbours_share_their_lines) {
  const auto text = [](const std::string& body) {
    return "\n@proc\ndef f(x: f32[500, 64], y: f32[500, 64]):\n    for i in seq(0, 498):\n"
           "        for j in seq(0, 62):\n" +
           body;
  };
  const double five = lines(text("            y[i, j] = x[i, j] + x[i + 2, j] + x[i + 1, j + 1] + "
                                 "x[i + 1, j] + x[i + 1, j + 2]\n"),
                            4096)
                          .all;
  EXPECT_NEAR(five, lines(text("            y[i, j] = x[i, j]\n"), 4096).all, 300);
}

TEST(Footprint, blocking_brings_in_less) {
  const auto product = [](const std::string& loops) {
    return "\n@proc\ndef f(a: f32[64, 64], b: f32[64, 80], c: f32[64, 64]):\n" + loops;
  };
  const double plain = lines(product(R"(    for i in seq(0, 64):
        for j in seq(0, 64):
            for k in seq(0, 64):
                c[i, j] += a[i, k] * b[k, j]
)"),
                             8192)
                           .all;
  const double blocked = lines(product(R"(    for jo in seq(0, 4):
        for i in seq(0, 64):
            for j in seq(0, 16):
                for k in seq(0, 64):
                    c[i, 16 * jo + j] += a[i, k] * b[k, 16 * jo + j]
)"),
                               8192)
                             .all;
  EXPECT_LT(blocked, plain / 4);
  EXPECT_GE(blocked, 3 * 256);
}

}  // namespace
}  // namespace exotune
