// What every iteration computes alike stands in front of the loop.
#include "search/moves/invariants.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::string in_front(const char* text) {
  const ProcPtr p = parsed(text);
  const std::optional<Schedule> s = invariants_in_front({p, {}, false});
  if (!s) return "";
  expect_same_result(p, s->proc, str(*s->proc));
  return str(*s->proc);
}

// Coefficients of a tridiagonal system that all right sides share.
TEST(Invariants, a_recurrence_that_knows_nothing_of_the_row_is_run_once) {
  const std::string text = in_front(R"(
@proc
def solves(y: f64[4, 9]):
    for r in seq(0, 4):
        m: f64[9]
        cp: f64[9]
        m[0] = 0.0
        cp[0] = 0.25
        for i in seq(1, 9):
            cp[i] = 1.0 / (4.0 - cp[i - 1])
            m[i] = (y[r, i] - m[i - 1]) * cp[i]
        for i in seq(0, 9):
            y[r, i] = m[i]
)");
  const size_t rows = text.find("for r in"), once = text.find("cp[i] = ");
  ASSERT_NE(once, std::string::npos) << text;
  EXPECT_LT(once, rows) << text;
  EXPECT_GT(text.find("m : f64[9]"), rows) << text;  // each row has its own
}

// A scalar of an inner loop, too, where it takes a function or a quotient.
TEST(Invariants, a_scalar_of_an_inner_loop_becomes_a_table) {
  const std::string text = in_front(R"(
@proc
def windowed(x: f32[5, 12], y: f32[5, 12]):
    for r in seq(0, 5):
        for i in seq(0, 12):
            w: f32 = 0.5 - 0.5 * cos(0.5 * f32(i))
            v: f32 = w * w
            y[r, i] = v * x[r, i]
)");
  EXPECT_NE(text.find("w : f32[12]"), std::string::npos) << text;
  EXPECT_LT(text.find("cos("), text.find("for r in")) << text;
  EXPECT_GT(text.find("v : f32 "), text.find("for r in")) << text;  // a product is no table
}

TEST(Invariants, a_table_passes_several_loops) {
  const std::string text = in_front(R"(
@proc
def sampled(x: f64[3, 6], y: f64[3, 6, 4]):
    for r in seq(0, 3):
        for i in seq(0, 6):
            for s in seq(0, 4):
                t: f64 = f64(s) / 4.0
                w: f64 = 1.0 - t
                y[r, i, s] = w * x[r, i] + t
)");
  EXPECT_NE(text.find("t : f64[4]"), std::string::npos) << text;
  EXPECT_LT(text.find("f64(s) / 4.0"), text.find("for r in")) << text;
}

TEST(Invariants, what_changes_with_the_loop_stays) {
  EXPECT_EQ(in_front(R"(
@proc
def rows(x: f32[5, 12], y: f32[5, 12]):
    for r in seq(0, 5):
        t: f32[12]
        for i in seq(0, 12):
            t[i] = x[r, i] / 3.0
        for i in seq(0, 12):
            y[r, i] = t[i] * t[11 - i]
)"),
            "");
  // Nor what is carried from one iteration to the next.
  EXPECT_EQ(in_front(R"(
@proc
def carried(y: f32[5]):
    a: f32 = 1.0
    for r in seq(0, 5):
        a = a / 3.0
        y[r] = a
)"),
            "");
  // Products are cheap beside a table.
  EXPECT_EQ(in_front(R"(
@proc
def cheap(x: f32[5, 12], h: f32, y: f32[5, 12]):
    for r in seq(0, 5):
        for i in seq(0, 12):
            w: f32 = h * f32(i)
            y[r, i] = w * x[r, i]
)"),
            "");
}

// The whole of natural splines: coefficients of the system, and of the samples.
TEST(Invariants, coefficients_and_tables_together) {
  const std::string text = in_front(R"(
@proc
def splines(h: f64, y: f64[3, 10], out: f64[3, 9, 4]):
    for r in seq(0, 3):
        m: f64[10]
        cp: f64[9]
        m[0] = 0.0
        m[9] = 0.0
        cp[0] = 0.0
        for i in seq(1, 9):
            cp[i] = 1.0 / (4.0 - cp[i - 1])
            m[i] = (6.0 * (y[r, i + 1] - 2.0 * y[r, i] + y[r, i - 1]) / (h * h) - m[i - 1]) * cp[i]
        for i in seq(0, 8):
            m[8 - i] -= cp[8 - i] * m[9 - i]
        for i in seq(0, 9):
            for s in seq(0, 4):
                t: f64 = f64(s) / 4.0
                w: f64 = 1.0 - t
                out[r, i, s] = w * y[r, i] + t * y[r, i + 1] + h * h / 6.0 * ((w * w * w - w) * m[i] + (t * t * t - t) * m[i + 1])
)");
  const size_t rows = text.find("for r in");
  ASSERT_NE(rows, std::string::npos) << text;
  EXPECT_LT(text.find("cp[i] = "), rows) << text;
  EXPECT_LT(text.find("f64(s) / 4.0"), rows) << text;
}

// Then they stand under a condition.
TEST(Invariants, a_loop_may_not_run_at_all) {
  const ProcPtr p = parsed(R"(
@proc
def perhaps(k: size, y: f32[8], s: f32[8]):
    t: f32[8]
    for i in seq(0, 8):
        t[i] = 2.0
    for r in seq(0, k - 1):
        for i in seq(0, 8):
            t[i] = 1.0 / 3.0
    for i in seq(0, 8):
        y[i] = t[i]
)");
  const std::optional<Schedule> s = invariants_in_front({p, {}, false});
  ASSERT_TRUE(s.has_value());
  EXPECT_NE(str(*s->proc).find("if 0 < k - 1:"), std::string::npos) << str(*s->proc);
}

// Parts of expressions, too: discount factors that all bonds have in common.
TEST(Invariants, a_part_of_an_expression_that_takes_long_becomes_a_table) {
  const std::string text = in_front(R"(
@proc
def values(t: f64[5], r: f64[3, 5], cash: f64[4, 5], pv: f64[3, 4]):
    for s in seq(0, 3):
        for b in seq(0, 4):
            v: f64 = 0.0
            for c in seq(0, 5):
                v += cash[b, c] * exp(-(r[s, c] * t[c]))
            pv[s, b] = v
)");
  EXPECT_NE(text.find("v_part : f64[5]"), std::string::npos) << text;
  EXPECT_LT(text.find("exp("), text.find("for b in")) << text;
  EXPECT_NE(text.find("v += cash[b, c] * v_part[c]"), std::string::npos) << text;
}

// What changes with the loop, or with nothing inside of it, has no table; nor has what the loop
// writes.
TEST(Invariants, other_parts_of_expressions_stay) {
  EXPECT_EQ(in_front(R"(
@proc
def of_each(a: f64[4], x: f64[4, 5], y: f64[4, 5]):
    for b in seq(0, 4):
        for c in seq(0, 5):
            y[b, c] = exp(x[b, c]) / sqrt(a[b])
)"),
            "");
  EXPECT_EQ(in_front(R"(
@proc
def written(x: f64[5], y: f64[4, 5]):
    for b in seq(0, 4):
        for c in seq(0, 5):
            y[b, c] = 2.0 * exp(x[c])
        for c in seq(0, 5):
            x[c] = y[b, c]
)"),
            "");
}

}  // namespace
}  // namespace exotune
