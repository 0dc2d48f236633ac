// Rows in lanes, against the interpreter.
#include "core/library/lane_rows.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "rows.exo").procs.at(0); }

// A recursive filter, forth and back: two chains a row, one of them over what the other wrote.
constexpr const char* kFilter = R"(
@proc
def filter(N: size, x: f64[N, 7], y: f64[N, 7]):
    for i in seq(0, N):
        s: f64
        s = 0.0
        for j in seq(0, 7):
            y[i, j] = x[i, j] + 0.5 * s
            s = y[i, j]
        for j in seq(1, 7):
            y[i, 6 - j] = y[i, 6 - j] + 0.5 * y[i, 7 - j]
)";

std::vector<double> result(const ProcPtr& p, int64_t n) {
  Buffer x(ScalarType::kF64, {n, 7}), y(ScalarType::kF64, {n, 7});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
  run(*p, {n, &x, &y});
  return y.data;
}

TEST(RowsToLanes, runs_rows_side_by_side_with_their_arrays_turned_over) {
  const ProcPtr p = parsed(kFilter);
  for (const int64_t lanes : {2, 4}) {
    const ProcPtr q = rows_to_lanes(p, "i", lanes);
    for (const int64_t n : {1, 2, 3, 4, 7, 8})
      EXPECT_EQ(result(p, n), result(q, n)) << "size " << n << "\n" << str(*q);
  }
  const std::string text = str(*rows_to_lanes(p, "i", 4));
  EXPECT_NE(text.find("s : f64[4]"), std::string::npos) << text;
  EXPECT_NE(text.find("y_lanes[j, i] = x_lanes[j, i] + 0.5 * s[i]"), std::string::npos) << text;
}

TEST(RowsToLanes, treats_a_known_number_of_rows_left_over_alike) {
  const ProcPtr p = partial_eval(parsed(kFilter), {{"N", 7}});
  const std::string text = str(*rows_to_lanes(p, "i", 4));
  EXPECT_NE(text.find("y_lanes : f64[7, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("x_lanes : f64[7, 3]"), std::string::npos) << text;
}

TEST(RowsToLanes, leaves_the_loop_after_it_alone) {
  const std::string text = str(*rows_to_lanes(parsed(R"(
@proc
def twice(x: f32[8, 9]):
    for i in seq(0, 8):
        for j in seq(1, 9):
            x[i, j] += x[i, j - 1]
    for i in seq(0, 8):
        for j in seq(1, 9):
            x[i, j] += x[i, j - 1]
)"),
                                              "for i in _: _ #0", 4));
  EXPECT_NE(
      text.find("    for i in seq(0, 8):\n        for j in seq(1, 9):\n            x[i, j] +="),
      std::string::npos)
      << text;
}

TEST(RowsToLanes, leaves_arrays_whose_rows_lie_side_by_side) {
  const std::string text = str(*rows_to_lanes(parsed(R"(
@proc
def down(x: f32[9, 8]):
    for j in seq(0, 8):
        for i in seq(1, 9):
            x[i, j] += x[i - 1, j]
)"),
                                              "j", 4));
  EXPECT_NE(text.find("x[i, j + 4 * jo] += x[i - 1, j + 4 * jo]"), std::string::npos) << text;
  EXPECT_EQ(text.find("x_lanes"), std::string::npos) << text;
}

TEST(RowsToLanes, refuses_rows_that_need_each_other_and_rows_without_a_loop) {
  EXPECT_THROW((void)rows_to_lanes(parsed(R"(
@proc
def sweep(x: f32[9, 9]):
    for i in seq(1, 9):
        for j in seq(1, 8):
            x[i, j] = x[i - 1, j + 1] + x[i, j - 1]
)"),
                                   "i", 2),
               SchedulingError);
  EXPECT_THROW((void)rows_to_lanes(parsed(R"(
@proc
def copy(x: f32[8], y: f32[8]):
    for i in seq(0, 8):
        y[i] = x[i]
)"),
                                   "i", 2),
               SchedulingError);
  EXPECT_THROW((void)rows_to_lanes(parsed(kFilter), "i", 1), SchedulingError);
}

// The rows left over may stand under a condition.
TEST(RowsToLanes, takes_loops_that_may_never_run) {
  const ProcPtr p = parsed(R"(
@proc
def f(N: size, L: index, x: f64[9, N]):
    assert L <= 9
    for j in seq(0, L):
        for k in seq(1, N):
            x[j, k] += x[j, k - 1]
)");
  const ProcPtr q = rows_to_lanes(p, "j", 4);
  for (const int64_t rows : {-1, 0, 3, 4, 9}) {
    Buffer one(ScalarType::kF64, {9, 5}), other(ScalarType::kF64, {9, 5});
    for (size_t k = 0; k < one.data.size(); ++k)
      one.data[k] = other.data[k] = static_cast<double>(k * 7 % 11);
    run(*p, {int64_t{5}, rows, &one});
    run(*q, {int64_t{5}, rows, &other});
    EXPECT_EQ(one.data, other.data) << rows << str(*q);
  }
}

TEST(SinkLoop, makes_one_recurrence_of_many) {
  const ProcPtr p = parsed(R"(
@proc
def solve(L: f64[5, 5], B: f64[5, 6]):
    for r in seq(0, 6):
        for i in seq(0, 5):
            for k in seq(0, i):
                B[i, r] += -(L[i, k] * B[k, r])
            B[i, r] = 2.0 * B[i, r]
)");
  const ProcPtr q = sink_loop(p, "r");
  const auto solved = [](const ProcPtr& solver) {
    Buffer l(ScalarType::kF64, {5, 5}), b(ScalarType::kF64, {5, 6});
    for (size_t k = 0; k < l.data.size(); ++k) l.data[k] = static_cast<double>(k % 3);
    for (size_t k = 0; k < b.data.size(); ++k) b.data[k] = static_cast<double>(k * 7 % 11);
    run(*solver, {&l, &b});
    return b.data;
  };
  EXPECT_EQ(solved(p), solved(q)) << str(*q);
  EXPECT_NE(str(*q).find("for i in seq(0, 5):\n        for k in seq(0, i):\n            for r in "
                         "seq(0, 6):"),
            std::string::npos)
      << str(*q);
  EXPECT_THROW((void)sink_loop(p, "k"), SchedulingError);
}

}  // namespace
}  // namespace exotune
