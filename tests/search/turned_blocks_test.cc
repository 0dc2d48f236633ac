// Copies that turn over what they copy, by way of a buffer.
#include "search/moves/turned_blocks.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr NearestCaches kSmall = {2048, 4096, 8192, 64};  // blocks of 16 x 16 floats
constexpr int64_t kLanes = 8;

std::string copy_of(int rows, int columns) {
  const std::string m = std::to_string(rows), n = std::to_string(columns);
  return "@proc\ndef turned(x: f32[" + m + ", " + n + "], y: f32[" + n + ", " + m +
         "]):\n    for i in seq(0, " + m + "):\n        for j in seq(0, " + n +
         "):\n            y[j, i] = x[i, j]\n";
}

TEST(TurnedBlocks, go_by_way_of_a_buffer_whose_rows_lie_side_by_side) {
  const ProcPtr p = parsed(copy_of(64, 96));
  const auto s = turned_in_blocks({p, {}, false}, {}, kSmall, kLanes);
  ASSERT_TRUE(s);
  const std::string text = str(*s->proc);
  EXPECT_NE(text.find("y_block : f32[16, 16] @ DRAM_STACK"), std::string::npos) << text;
  EXPECT_NE(text.find("y_block[j, i] = x[16 * ib + i, 16 * jb + j]"), std::string::npos) << text;
  expect_same_result(p, s->proc, text);
}

TEST(TurnedBlocks, leave_what_is_no_whole_block) {
  for (const auto& [m, n] : {std::pair(37, 50), std::pair(32, 53), std::pair(61, 48)}) {
    const ProcPtr p = parsed(copy_of(m, n));
    const auto s = turned_in_blocks({p, {}, false}, {}, kSmall, kLanes);
    ASSERT_TRUE(s) << m << " " << n;
    expect_same_result(p, s->proc, str(*s->proc));
  }
}

TEST(TurnedBlocks, other_loops_stay_around) {
  const ProcPtr p = parsed(
      "@proc\ndef channels(x: f32[33, 3, 40], y: f32[3, 40, 33]):\n    for c in seq(0, 33):\n"
      "        for h in seq(0, 3):\n            for w in seq(0, 40):\n"
      "                y[h, w, c] = x[c, h, w]\n");
  const auto s = turned_in_blocks({p, {}, false}, {}, kSmall, kLanes);
  ASSERT_TRUE(s);
  expect_same_result(p, s->proc, str(*s->proc));
}

TEST(TurnedBlocks, are_for_copies_that_turn_over_several_blocks) {
  const auto none = [](const std::string& text, const NearestCaches& caches = kSmall) {
    return !turned_in_blocks({parsed(text), {}, false}, {}, caches, kLanes);
  };
  EXPECT_TRUE(none(copy_of(64, 30))) << "one block";
  EXPECT_TRUE(none(copy_of(64, 96), {})) << "there is no cache";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[64, 64], y: f32[64, 64]):\n    for i in seq(0, 64):\n"
           "        for j in seq(0, 64):\n            y[i, j] = x[i, j]\n"))
      << "it does not turn over";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[64, 64], y: f32[64, 64]):\n    for i in seq(0, 64):\n"
           "        for j in seq(0, 64):\n            y[j, i] += x[i, j]\n"))
      << "it adds";
}

std::string symmetric_part(int n) {
  const std::string m = std::to_string(n);
  return "@proc\ndef f(A: f32[" + m + ", " + m + "], B: f32[" + m + ", " + m +
         "]):\n    for i in seq(0, " + m + "):\n        for j in seq(0, " + m +
         "):\n            B[i, j] = 0.5 * (A[i, j] + A[j, i])\n";
}

TEST(TurnedOperands, are_turned_over_where_they_are_read_across) {
  for (const int n : {16, 19, 24, 37}) {
    const ProcPtr p = parsed(symmetric_part(n));
    const auto s = operands_turned_in_blocks({p, {}, false}, {}, kSmall, kLanes);
    ASSERT_TRUE(s) << n;
    const std::string text = str(*s->proc);
    EXPECT_NE(text.find("A_t[t0, t1] = A[8 * jb + t1, 8 * ib + t0]"), std::string::npos) << text;
    // In the whole blocks and in what is left, no row of A is read across.
    EXPECT_EQ(text.find("+ A["), std::string::npos) << text;
    expect_same_result(p, s->proc, text);
  }
}

TEST(TurnedOperands, are_those_of_rows_of_the_result) {
  const auto none = [](const std::string& text, const NearestCaches& caches = kSmall) {
    return !operands_turned_in_blocks({parsed(text), {}, false}, {}, caches, kLanes);
  };
  EXPECT_TRUE(none(symmetric_part(15))) << "one block";
  EXPECT_TRUE(none(symmetric_part(64), {})) << "there is no cache";
  EXPECT_TRUE(none(copy_of(64, 96))) << "a copy";
  EXPECT_TRUE(none(kTransposed)) << "a product, whose operand is read many times";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[64, 64], y: f32[64, 64]):\n    for i in seq(0, 64):\n"
           "        for j in seq(0, 64):\n            y[i, j] = 2.0 * x[i, j]\n"))
      << "nothing is read across";
}

}  // namespace
}  // namespace exotune
