// Corners of triangles as squares, against the interpreter.
#include "core/library/triangles.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

std::vector<double> numbers(int64_t n, int64_t step) {
  std::vector<double> out;
  for (int64_t k = 0; k < n; ++k) out.push_back(static_cast<double>(k * step % 11) - 5);
  return out;
}

// The result of p(A: [rows, cols], C: [n, n]).
std::vector<double> result(const ProcPtr& p, int64_t rows, int64_t cols, int64_t n) {
  Buffer a(ScalarType::kF32, {rows, cols}, numbers(rows * cols, 3));
  Buffer c(ScalarType::kF32, {n, n}, numbers(n * n, 7));
  run(*p, {&a, &c});
  return c.data;
}

ProcPtr parsed(const std::string& text) { return parse_module(text, "triangles.exo").procs.at(0); }

constexpr const char* kLower = R"(
@proc
def syrk(A: f32[8, 5], C: f32[8, 8]):
    for i in seq(0, 8):
        for k in seq(0, 5):
            for j in seq(0, i + 1):
                C[i, j] += A[i, k] * A[j, k]
)";
constexpr const char* kUpper = R"(
@proc
def gram(X: f32[5, 8], G: f32[8, 8]):
    for i in seq(1, 8):
        for j in seq(i, 8):
            G[i, j] = 0.0
            for k in seq(0, 5):
                G[i, j] += X[k, i] * X[k, j]
)";

TEST(SquareCorner, computes_a_lower_triangle_as_a_square) {
  const ProcPtr p = parsed(kLower), q = square_corner(p, "i", "j");
  EXPECT_EQ(result(q, 8, 5, 8), result(p, 8, 5, 8)) << str(*q);
  const std::string text = str(*q);
  EXPECT_NE(text.find("C_square : f32[8, 8]"), std::string::npos) << text;
  EXPECT_NE(text.find("C_square[i, j] += A_own[k, i] * A[j, k]"), std::string::npos) << text;
}

TEST(SquareCorner, computes_an_upper_triangle_as_a_square) {
  const ProcPtr p = parsed(kUpper), q = square_corner(p, "i", "j");
  EXPECT_EQ(result(q, 5, 8, 8), result(p, 5, 8, 8)) << str(*q);
  EXPECT_NE(str(*q).find("G_square : f32[7, 7]"), std::string::npos) << str(*q);
}

TEST(SquareCorner, leaves_an_operand_that_is_read_twice_where_it_is_not_asked_to_copy) {
  const ProcPtr p = parsed(kLower), q = square_corner(p, "i", "j", false);
  EXPECT_EQ(result(q, 8, 5, 8), result(p, 8, 5, 8)) << str(*q);
  EXPECT_EQ(str(*q).find("A_own"), std::string::npos) << str(*q);
}

TEST(SquareCorner, refuses_what_would_be_read_out_of_bounds) {
  const ProcPtr p = parsed(R"(
@proc
def band(A: f32[8, 8], C: f32[8, 8]):
    for i in seq(0, 8):
        for j in seq(0, i + 1):
            C[i, j] += A[i - j, j]
)");
  EXPECT_THROW((void)square_corner(p, "i", "j"), SchedulingError);
}

TEST(SquareCorner, refuses_rectangles_and_several_sums) {
  EXPECT_THROW((void)square_corner(parsed(R"(
@proc
def rectangle(A: f32[8, 8], C: f32[8, 8]):
    for i in seq(0, 8):
        for j in seq(0, 8):
            C[i, j] += A[i, j]
)"),
                                   "i", "j"),
               SchedulingError);
  EXPECT_THROW((void)square_corner(parsed(R"(
@proc
def two(A: f32[8, 8], C: f32[8, 8]):
    for i in seq(0, 8):
        for j in seq(0, i + 1):
            C[i, j] += A[i, j]
            A[i, j] = 0.0
)"),
                                   "i", "j"),
               SchedulingError);
}

// A factorization's sums: those of the diagonal stand apart, since a root is what ends them.
constexpr const char* kDiagonalApart = R"(
@proc
def sums(A: f32[8, 8], C: f32[8, 8]):
    for i in seq(0, 8):
        for j in seq(0, i):
            for k in seq(0, j):
                C[i, j] += A[i, k] * A[j, k]
    for i in seq(0, 8):
        for k in seq(0, i):
            C[i, i] += A[i, k] * A[i, k]
)";

TEST(JoinDiagonal, is_the_last_column_of_its_triangle) {
  const ProcPtr p = parsed(kDiagonalApart), q = join_diagonal(p, "i");
  EXPECT_EQ(result(q, 8, 8, 8), result(p, 8, 8, 8)) << str(*q);
  EXPECT_EQ(str(*q), R"(@proc
def sums(A: f32[8, 8] @ DRAM, C: f32[8, 8] @ DRAM):
    for i in seq(0, 8):
        for j in seq(0, i + 1):
            for k in seq(0, j):
                C[i, j] += A[i, k] * A[j, k]
)");
}

TEST(JoinDiagonal, refuses_what_is_not_the_same_at_the_end_of_a_row) {
  const auto with_text = [](std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.rfind(old), old.size(), by);
  };
  const auto with = [&](const std::string& old, const std::string& by) {
    return parsed(with_text(kDiagonalApart, old, by));
  };
  for (const ProcPtr& p :
       {with("A[i, k] * A[i, k]", "A[i, k] * A[k, i]"), with("C[i, i] +=", "C[i, 7] +="),
        with("k in seq(0, i)", "k in seq(0, 8)"), with("i in seq(0, 8)", "i in seq(1, 8)"),
        with("A[i, k] * A[i, k]", "A[i, k] + A[i, k]"), with("C[i, i] +=", "C[i, i] =")})
    EXPECT_THROW((void)join_diagonal(p, "i"), SchedulingError) << str(*p);
  // Rows that the diagonal of the row before changes.
  const std::string carried =
      with_text(with_text(kDiagonalApart, "A[i, k] * A[i, k]", "C[i, i] * A[i, k]"),
                "A[i, k] * A[j, k]", "C[j, j] * A[j, k]");
  EXPECT_THROW((void)join_diagonal(parsed(carried), "i"), SchedulingError) << carried;
  // Nothing behind it, or no triangle.
  EXPECT_THROW((void)join_diagonal(parsed(kLower), "i"), SchedulingError);
  EXPECT_THROW((void)join_diagonal(parsed(kDiagonalApart), "for i in _: _ #1"), SchedulingError);
}

}  // namespace
}  // namespace exotune
