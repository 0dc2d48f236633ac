// Triangles cut into few large rectangles: every kind of triangle, sizes with and without a rest,
// and that it computes the same.
#include "search/moves/triangle_blocks.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::string times(const std::string& text, const std::string& size) {
  std::string out = text;
  for (size_t at; (at = out.find('$')) != std::string::npos;) out.replace(at, 1, size);
  return out;
}

std::optional<Schedule> cut(const ProcPtr& p, int64_t corner_block = 0) {
  return triangle_in_blocks({p, {}, false}, {{Child::kBody, 0}}, 24, corner_block);
}

const char kSumOfEarlierRows[] = R"(
@proc
def p(A: f32[$, $], B: f32[$, 3], C: f32[$, 3]):
    for i in seq(0, $):
        for j in seq(0, 3):
            for k in seq(0, i):
                C[i, j] += A[i, k] * B[k, j]
)";

// Every row reads rows that are not done yet.
const char kProductInPlace[] = R"(
@proc
def p(A: f32[$, $], B: f32[$, 3]):
    for i in seq(0, $):
        for j in seq(0, 3):
            for k in seq(i + 1, $):
                B[i, j] += A[k, i] * B[k, j]
)";

// Every row reads rows that are done: a recurrence.
const char kSolve[] = R"(
@proc
def p(A: f32[$, $], B: f32[$, 3]):
    for i in seq(0, $):
        for k in seq(0, i):
            for j in seq(0, 3):
                B[i, j] += A[i, k] * B[k, j]
)";

const char kLowerResult[] = R"(
@proc
def p(A: f32[$, 5], C: f32[$, $]):
    for i in seq(0, $):
        for j in seq(0, i + 1):
            for k in seq(0, 5):
                C[i, j] += A[i, k] * A[j, k]
)";

const char kUpperResult[] = R"(
@proc
def p(A: f32[$, 5], C: f32[$, $]):
    for i in seq(0, $):
        for k in seq(0, 5):
            for j in seq(i, $):
                C[i, j] += A[i, k] * A[j, k]
)";

TEST(TriangleInBlocks, computes_the_same_in_every_form) {
  for (const char* text : {kSumOfEarlierRows, kProductInPlace, kSolve, kLowerResult, kUpperResult})
    for (const char* size : {"75", "79", "98", "121"})
      for (const int64_t corner_block : {0, 4}) {
        const ProcPtr p = parsed(times(text, size));
        const std::optional<Schedule> made = cut(p, corner_block);
        ASSERT_TRUE(made) << str(*p);
        expect_same_result(p, made->proc, str(*made->proc));
      }
}

TEST(TriangleInBlocks, leaves_products_of_two_fixed_bounds_and_corners_as_they_were) {
  const std::optional<Schedule> made = cut(parsed(times(kSumOfEarlierRows, "96")));
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_NE(text.find("for k in seq(0, 24):\n"
                      "            for i in seq(24 * kb + 24, 96):\n"
                      "                for j in seq(0, 3):"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("for i in seq(24 * kb + 1, 24 * kb + 24):\n"
                      "            for j in seq(0, 3):\n"
                      "                for k in seq("),
            std::string::npos)
      << text;
}

TEST(TriangleInBlocks, begins_with_a_block_without_a_rectangle_where_lower_bounds_follow) {
  const std::optional<Schedule> made = cut(parsed(times(kProductInPlace, "98")));
  ASSERT_TRUE(made);
  EXPECT_NE(str(*made->proc).find("for kb in seq(1, 4)"), std::string::npos) << str(*made->proc);
}

TEST(TriangleInBlocks, takes_no_rectangle_and_none_of_few_blocks) {
  EXPECT_FALSE(cut(parsed(times(kSumOfEarlierRows, "72"))));
  EXPECT_FALSE(cut(parsed(R"(
@proc
def p(A: f32[90, 90], B: f32[90, 3], C: f32[90, 3]):
    for i in seq(0, 90):
        for j in seq(0, 3):
            for k in seq(0, 90):
                C[i, j] += A[i, k] * B[k, j]
)")));
}

TEST(TriangleInBlocks, is_not_for_sums_of_two_products_nor_for_vectors) {
  EXPECT_FALSE(cut(parsed(R"(
@proc
def p(A: f32[5, 90], B: f32[5, 90], C: f32[90, 90]):
    for i in seq(0, 90):
        for j in seq(i, 90):
            for k in seq(0, 5):
                C[i, j] += A[k, i] * B[k, j] + B[k, i] * A[k, j]
)")));
  EXPECT_FALSE(cut(parsed(R"(
@proc
def p(A: f32[90, 90], x: f32[90], y: f32[90]):
    for i in seq(0, 90):
        for k in seq(0, i):
            y[i] += A[i, k] * x[k]
)")));
}

// Two rows ahead of the sum: in the order as written some of those rows were done when they were
// read, which they would not be.
TEST(TriangleInBlocks, is_refused_where_rows_would_be_read_too_soon) {
  EXPECT_FALSE(cut(parsed(R"(
@proc
def p(A: f32[90, 90], B: f32[92, 3]):
    for i in seq(0, 90):
        for j in seq(0, 3):
            for k in seq(0, i):
                B[i, j] += A[i, k] * B[k + 2, j]
)")));
}

// A block of steps is one of the matrix that is left: its rows go through them one after the other.
TEST(TriangleInBlocks, is_not_for_eliminations) {
  EXPECT_FALSE(cut(parsed(R"(
@proc
def p(A: f32[90, 90]):
    for k in seq(0, 90):
        for i in seq(k + 1, 90):
            for j in seq(k + 1, 90):
                A[i, j] += A[i, k] * A[k, j]
)")));
}

}  // namespace
}  // namespace exotune
