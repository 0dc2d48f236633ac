// Recurrences in blocks of rows, against the interpreter.
#include "core/library/recurrences.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/triangles.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "rows.exo").procs.at(0); }

// p(N, A: f64[N, N]) on a symmetric matrix whose diagonal outweighs the rest.
std::vector<double> factors(const ProcPtr& p, int64_t n) {
  Buffer a(ScalarType::kF64, {n, n});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      a.data[static_cast<size_t>(i * n + j)] =
          i == j ? static_cast<double>(8 * n) : static_cast<double>((i + j) * 3 % 7);
  run(*p, {n, &a});
  return a.data;
}

void expect_same(const ProcPtr& p, const ProcPtr& q, int64_t n) {
  const std::vector<double> want = factors(p, n), have = factors(q, n);
  for (size_t k = 0; k < want.size(); ++k)
    ASSERT_NEAR(have[k], want[k], 1e-12) << "size " << n << "\n" << str(*q);
}

constexpr const char* kCholesky = R"(
@proc
def cholesky(N: size, A: f64[N, N]):
    for i in seq(0, N):
        for j in seq(0, i):
            for k in seq(0, j):
                A[i, j] += -(A[i, k] * A[j, k])
            A[i, j] = A[i, j] / A[j, j]
        for k in seq(0, i):
            A[i, i] += -(A[i, k] * A[i, k])
        A[i, i] = sqrt(A[i, i])
)";
constexpr const char* kFactors = R"(
@proc
def lu(N: size, A: f64[N, N]):
    for i in seq(0, N):
        for j in seq(0, i):
            for k in seq(0, j):
                A[i, j] += -(A[i, k] * A[k, j])
            A[i, j] = A[i, j] / A[j, j]
        for j in seq(i, N):
            for k in seq(0, i):
                A[i, j] += -(A[i, k] * A[k, j])
)";

TEST(BlockRecurrence, takes_the_product_out_of_a_cholesky_factorization) {
  const ProcPtr p = parsed(kCholesky), q = block_recurrence(p, "i", 4);
  for (const int64_t n : {1, 3, 4, 7, 8, 13}) expect_same(p, q, n);
  const std::string text = str(*q);
  // Columns of finished rows, the rows inside; then the block's own columns less finished ones.
  EXPECT_NE(text.find("for j in seq(0, 4 * ib):\n            for i in seq(0, 4):"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("for k in seq(0, 4 * ib):"), std::string::npos) << text;
}

TEST(BlockRecurrence, joins_what_two_loops_took_of_one_product) {
  const ProcPtr p = parsed(kFactors), q = block_recurrence(p, "i", 4);
  for (const int64_t n : {1, 3, 4, 7, 8, 13}) expect_same(p, q, n);
  // Left and right of the diagonal at once.
  const std::string product =
      "for i in seq(0, 4):\n            for j in seq(4 * ib, N):\n                for k in seq(0, "
      "4 * "
      "ib):";
  EXPECT_NE(str(*q).find(product), std::string::npos) << str(*q);
}

// Steps that each change the rest of the matrix: what a block's steps leave for the rest is a
// product, after the block's own rows and columns.
TEST(BlockRecurrence, leaves_the_rest_of_an_elimination_to_a_product) {
  const ProcPtr p = parsed(R"(
@proc
def eliminate(N: size, A: f64[N, N]):
    for k in seq(0, N):
        for i in seq(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
            for j in seq(k + 1, N):
                A[i, j] += -(A[i, k] * A[k, j])
)");
  const ProcPtr q = block_recurrence(p, "k", 4);
  for (const int64_t n : {1, 3, 4, 5, 7, 8, 13}) expect_same(p, q, n);
  EXPECT_NE(str(*q).find("        for k in seq(0, 4):\n"
                         "            for i in seq(4 * kb + 4, N):\n"
                         "                for j in seq(4 * kb + 4, N):\n"
                         "                    A[i, j] += -(A[i, 4 * kb + k] * A[4 * kb + k, j])\n"),
            std::string::npos)
      << str(*q);
}

TEST(BlockRecurrence, leaves_the_rest_of_a_triangle_to_a_product) {
  const ProcPtr p = parsed(R"(
@proc
def cholesky_by_steps(N: size, A: f64[N, N]):
    for k in seq(0, N):
        A[k, k] = sqrt(A[k, k])
        for i in seq(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
        for j in seq(k + 1, N):
            for i in seq(j, N):
                A[i, j] += -(A[i, k] * A[j, k])
)");
  const ProcPtr q = block_recurrence(p, "k", 4);
  for (const int64_t n : {1, 3, 4, 5, 7, 8, 13}) expect_same(p, q, n);
  EXPECT_NE(str(*q).find("        for k in seq(0, 4):\n"
                         "            for j in seq(4 * kb + 4, N):\n"
                         "                for i in seq(j, N):\n"),
            std::string::npos)
      << str(*q);
}

TEST(BlockRecurrence, blocks_the_columns_of_a_block_again) {
  const ProcPtr p = parsed(kFactors);
  ProcPtr q = block_recurrence(p, "i", 4);
  q = stage_panel(q, "for j in _: _", "i", "A_panel");
  const std::string staged = str(*q);
  EXPECT_NE(staged.find("A_panel[i1, i0] = A["), std::string::npos) << staged;
  EXPECT_EQ(staged.find("else"), std::string::npos) << staged;  // nothing is left where it is empty
  q = block_recurrence(q, "for j in _: _", 2);
  EXPECT_NE(str(*q).find("for k in seq(0, 2 * jb):"), std::string::npos) << str(*q);
  for (const int64_t n : {1, 3, 4, 7, 8, 13}) expect_same(p, q, n);
}

// What a block's rows do to its own corner is a product of the panel with itself: both operands
// run along the panel's rows.
TEST(BlockRecurrence, keeps_a_panel_for_what_reads_it_behind_the_loop) {
  const ProcPtr p = parsed(kCholesky);
  const ProcPtr blocks = join_diagonal(block_recurrence(p, "i", 4), "for i in _: _ #1");
  const ProcPtr q = stage_panel(blocks, "for j in _: _", "i", "A_panel", 1);
  const std::string text = str(*q);
  EXPECT_NE(text.find("A[4 * ib + i, j] += -(A_panel[k, i] * A_panel[k, j - 4 * ib])"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("else"), std::string::npos) << text;  // nothing is left where it is empty
  for (const int64_t n : {1, 3, 4, 7, 8, 13}) expect_same(p, q, n);
  EXPECT_THROW((void)stage_panel(blocks, "for j in _: _", "i", "A_panel", 3), SchedulingError);
  EXPECT_THROW((void)stage_panel(blocks, "for j in _: _", "i", "A_panel", -1), SchedulingError);
}

// Levinson and Durbin's recursion: sums that reach as far as their row, behind a row that ends
// where a block does.
TEST(BlockRecurrence, ends_where_a_sum_begins_at_the_cut) {
  EXPECT_THROW((void)block_recurrence(parsed(R"(
@proc
def durbin(r: f64[9], y: f64[9]):
    for k in seq(0, 8):
        sum: f64
        sum = r[k + 1]
        for i in seq(0, k + 1):
            sum += r[k - i] * y[i]
        y[k + 1] = sum
)"),
                                      "k", 4),
               SchedulingError);
}

TEST(BlockRecurrence, begins_a_row_before_its_sum) {
  const ProcPtr p = parsed(R"(
@proc
def solve(N: size, L: f64[N, N]):
    for i in seq(0, N):
        L[i, i] = L[i, i] + 1.0
        for j in seq(0, i):
            L[i, i] += -(L[i, j] * L[j, j])
        L[i, i] = L[i, i] / 64.0
)");
  const ProcPtr q = block_recurrence(p, "i", 4);
  for (const int64_t n : {1, 4, 9}) expect_same(p, q, n);
  EXPECT_NE(str(*q).find("for j in seq(0, 4 * ib):"), std::string::npos) << str(*q);
}

// Many right-hand sides, rows of them innermost: the sum's loop ends with its row, and is not the
// innermost one.
TEST(BlockRecurrence, takes_the_product_out_of_a_solve_whose_sums_are_outside) {
  const ProcPtr p = parsed(R"(
@proc
def solve(N: size, A: f64[N, N]):
    for i in seq(0, N):
        for k in seq(0, i):
            for j in seq(0, N):
                A[i, j] += -(0.25 * A[k, j])
        for j in seq(0, N):
            A[i, j] = A[i, j] / 2.0
)");
  const ProcPtr q = block_recurrence(p, "i", 4);
  for (const int64_t n : {1, 3, 4, 7, 8, 13}) expect_same(p, q, n);
  const std::string text = str(*q);
  EXPECT_NE(text.find("for i in seq(0, 4):\n            for k in seq(0, 4 * ib):\n"
                      "                for j in seq(0, N):"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("for k in seq(4 * ib, "), std::string::npos) << text;
}

TEST(BlockRecurrence, refuses_loops_with_nothing_to_take_out) {
  EXPECT_THROW((void)block_recurrence(parsed(R"(
@proc
def sums(N: size, A: f64[N, N]):
    for i in seq(1, N):
        A[i, 0] = A[i - 1, 0] + 1.0
)"),
                                      "i", 4),
               SchedulingError);
  // Each row needs all of the row before it: there are no finished columns.
  EXPECT_THROW((void)block_recurrence(parsed(R"(
@proc
def chain(N: size, A: f64[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            A[i, j] = A[i, j] + 1.0
)"),
                                      "i", 4),
               SchedulingError);
}

TEST(StagePanel, refuses_several_arrays_and_rows_that_nothing_moves_along) {
  const ProcPtr p = parsed(R"(
@proc
def two(A: f64[8, 8], B: f64[8, 8]):
    for j in seq(0, 8):
        for i in seq(0, 4):
            A[i, j] = 1.0
            B[i, j] = 2.0
)");
  EXPECT_THROW((void)stage_panel(p, "j", "i", "P"), SchedulingError);
  const ProcPtr q = parsed(R"(
@proc
def one(A: f64[8, 8]):
    for j in seq(0, 8):
        for i in seq(0, 4):
            A[i, j] = 1.0
)");
  EXPECT_THROW((void)stage_panel(q, "j", "x", "P"), SchedulingError);
  EXPECT_NE(str(*stage_panel(q, "j", "i", "P")).find("P[j, i] = 1.0"), std::string::npos);
}

}  // namespace
}  // namespace exotune
