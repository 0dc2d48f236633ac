// Rows that the windows of a tile's results share: each is read once, every size computes the same,
// and what moves nothing together is refused.
#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/sum_block.h"
#include "tests/core/library/four_lanes.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::string text(int64_t n) { return std::to_string(n); }

// y[i, j] = sum of w[r, s] * x[step * i + r, j + s], `rows` by `columns` of it, 2 values of s.
std::string windows(int64_t rows, int64_t columns, int64_t taps, int64_t step) {
  return "@proc\ndef windows(w: f32[" + text(taps) + ", 2], x: f32[" +
         text(step * (rows - 1) + taps) + ", " + text(columns + 1) + "], y: f32[" + text(rows) +
         ", " + text(columns) + "]):\n    for i in seq(0, " + text(rows) +
         "):\n        for j in seq(0, " + text(columns) +
         "):\n            y[i, j] = 0.0\n            for r in seq(0, " + text(taps) +
         "):\n                for s in seq(0, 2):\n"
         "                    y[i, j] += w[r, s] * x[" +
         text(step) + " * i + r, j + s]\n";
}

ProcPtr tiled(const FourLanes& machine, const ProcPtr& p, int64_t height,
              const std::string& window = "r") {
  ProcPtr q = block_loop(p, "j", {4, 1}, {"jo", "j"}, "i");
  if (height > 0) q = block_loop(q, "i", {height}, {"io", "i"});
  return sum_block(q, "i", "j", machine.unit, false, window);
}

int count(const std::string& in, const std::string& word) {
  int n = 0;
  for (size_t at = 0; (at = in.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(WindowRows, every_row_is_loaded_once_for_all_that_read_it) {
  const FourLanes machine(windows(4, 4, 3, 1));
  const ProcPtr p = machine.find("windows"), q = sum_block(p, "i", "j", machine.unit, false, "r");
  expect_same_result(p, q, str(*q));
  EXPECT_EQ(count(str(*q), "load(x_"), 4 + 3 - 1) << str(*q);
  EXPECT_EQ(count(str(*q), " fma("), 4 * 3) << str(*q);
}

TEST(WindowRows, small_programs_of_every_shape_compute_the_same) {
  for (const int64_t rows : {2, 3, 5})
    for (const int64_t columns : {3, 4, 9})
      for (const int64_t taps : {1, 2, 3})
        for (const int64_t step : {1, 2, 3})
          for (const int64_t height : {2, 3}) {
            if (height > rows) continue;
            const FourLanes machine(windows(rows, columns, taps, step));
            const ProcPtr p = machine.find("windows"), q = tiled(machine, p, height);
            expect_same_result(p, q, str(*q));
          }
}

// y[i, j] += sum of w[r] * x[`row`, j]: so many values of r, the only loop of the sum.
std::string column(int64_t taps, const std::string& row) {
  return "@proc\ndef column(w: f32[" + text(taps) + "], x: f32[" + text(taps + 3) +
         ", 4], y: f32[4, 4]):\n    for i in seq(0, 4):\n        for j in seq(0, 4):\n"
         "            for r in seq(0, " +
         text(taps) + "):\n                y[i, j] += w[r] * x[" + row + ", j]\n";
}

TEST(WindowRows, sums_of_one_loop_keep_their_order) {
  for (const char* row : {"i + r", "i + 2 - r", "3 - i + r"}) {
    const FourLanes machine(column(3, row));
    const ProcPtr p = machine.find("column"), q = sum_block(p, "i", "j", machine.unit, false, "r");
    expect_same_result(p, q, str(*q));
    EXPECT_FALSE(reassociates(q)) << str(*q);
  }
}

std::string refusal_of(const std::string& kernel, const std::string& window) {
  const FourLanes machine(kernel);
  try {
    (void)sum_block(machine.module.procs.back(), "i", "j", machine.unit, false, window);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(WindowRows, refuses_loops_that_move_nothing_with_the_rows) {
  const std::string product = R"(
@proc
def k(a: f32[4, 3], b: f32[3, 4], c: f32[4, 4]):
    for i in seq(0, 4):
        for j in seq(0, 4):
            for r in seq(0, 3):
                c[i, j] += a[i, r] * b[r, j]
)";
  EXPECT_NE(refusal_of(product, "r").find("move what is read together"), std::string::npos);
  EXPECT_NE(refusal_of(product, "q").find("`q` is no loop of the sum"), std::string::npos);
  const std::string unknown = R"(
@proc
def k(R: size, w: f32[R], x: f32[R + 3, 4], y: f32[4, 4]):
    for i in seq(0, 4):
        for j in seq(0, 4):
            for r in seq(0, R):
                y[i, j] += w[r] * x[i + r, j]
)";
  EXPECT_NE(refusal_of(unknown, "r").find("of known length"), std::string::npos);
  EXPECT_NE(refusal_of(column(5000, "i + r"), "r").find("more than 1024"), std::string::npos);
}

}  // namespace
}  // namespace exotune
