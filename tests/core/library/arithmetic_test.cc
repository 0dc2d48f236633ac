// Arithmetic that takes less time: powers, what is computed alike, the order of a sum's terms.
#include "core/library/arithmetic.h"

#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// The body of `p` as text.
std::string body(const ProcPtr& p) { return str(*p, p->body); }
ProcPtr parse(const std::string& text) { return parse_module(text, "test.exo").procs.back(); }

TEST(Arithmetic, powers_are_products_of_what_has_a_name) {
  const ProcPtr p = parse(R"(
def f(x: f32[8], m: f32, y: f32[8]):
    for i in seq(0, 8):
        y[i] += pow(x[i] - m, 5.0)
)");
  const ProcPtr q = powers_as_products(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    base : f32 @ DRAM
    base = x[i] - m
    base_1 : f32 @ DRAM
    base_1 = base * base
    y[i] += base_1 * base_1 * base
)");
}

TEST(Arithmetic, powers_stand_inside_of_others_and_in_statements_of_all_depths) {
  const ProcPtr p = parse(R"(
def f(x: f64[8], y: f64):
    y = pow(2.0, pow(x[0], -0.5))
    for i in seq(0, 8):
        if i < 4:
            x[i] = pow(x[i], 2.0) + pow(x[i], 0.3)
)");
  const ProcPtr q = powers_as_products(p);
  check(*q);
  EXPECT_EQ(body(q), R"(y = exp2(1.0 / sqrt(x[0]))
for i in seq(0, 8):
    if i < 4:
        x[i] = x[i] * x[i] + pow(x[i], 0.3)
)");
  EXPECT_THROW((void)powers_as_products(q), SchedulingError);
}

TEST(Arithmetic, one_reciprocal_serves_all_quotients_by_a_divisor) {
  const ProcPtr p = parse(R"(
def f(x: f32[8], d: f32[8], y: f32[8], z: f32[8]):
    for i in seq(0, 8):
        y[i] = x[i] / sqrt(d[i])
        z[i] += 2.0 - 1.0 / sqrt(d[i])
)");
  const ProcPtr q = share_operations(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    over : f32 @ DRAM
    over = 1.0 / sqrt(d[i])
    y[i] = x[i] * over
    z[i] += 2.0 - over
)");
}

TEST(Arithmetic, a_divisor_that_is_written_between_or_stays_in_the_loop_is_left) {
  EXPECT_THROW((void)share_operations(parse(R"(
def f(x: f32[9], d: f32[9], s: f32, y: f32[9], z: f32[9]):
    for i in seq(0, 9):
        y[i] = x[i] / d[i]
        d[i] = y[i] / s
        z[i] = y[i] / d[i] + x[i] / s
)")),
               SchedulingError);
}

TEST(Arithmetic, components_are_multiplied_by_a_reciprocal_made_before_them) {
  const ProcPtr p = parse(R"(
def f(x: f32[8, 3], n: f32[8], y: f32[8, 3], z: f32[8]):
    for i in seq(0, 8):
        for k in seq(0, 3):
            y[i, k] = x[i, k] / n[i] + 1.0 / n[i]
        z[i] = 2.0 / n[i]
)");
  const ProcPtr q = share_operations(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    over : f32 @ DRAM
    over_1 : f32 @ DRAM
    over_1 = 1.0 / n[i]
    over = over_1
    for k in seq(0, 3):
        y[i, k] = x[i, k] * over + over
    z[i] = 2.0 * over_1
)");
}

TEST(Arithmetic, what_a_block_calls_alike_is_called_once) {
  const ProcPtr p = parse(R"(
def f(x: f32[8], y: f32[8], z: f32[8]):
    for i in seq(0, 8):
        y[i] = exp(x[i] + sqrt(x[i])) + exp(x[i] + sqrt(x[i]))
        z[i] = sqrt(x[i])
        x[i] = fmax(z[i], fmax(x[i], 0.0)) * fmax(x[i], 0.0)
)");
  const ProcPtr q = share_operations(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    shared : f32 @ DRAM
    shared_1 : f32 @ DRAM
    shared_1 = sqrt(x[i])
    shared = exp(x[i] + shared_1)
    y[i] = shared + shared
    z[i] = shared_1
    x[i] = fmax(z[i], fmax(x[i], 0.0)) * fmax(x[i], 0.0)
)");
}

TEST(Arithmetic, sums_begin_with_a_term_that_is_no_product) {
  const ProcPtr p = parse(R"(
def f(x: f32[8], y: f32[8], s: f32):
    for i in seq(0, 8):
        y[i] = x[i] * x[i] + s * x[i] - s * s + s
        y[i] = x[i] * x[i] + s
        y[i] = s + x[i] * x[i] + s * s
        y[i] = sqrt(x[i] * x[i] + s * s + 0.5) + x[i]
)");
  const ProcPtr q = lead_with_terms(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    y[i] = s + x[i] * x[i] + s * x[i] - s * s
    y[i] = x[i] * x[i] + s
    y[i] = s + x[i] * x[i] + s * s
    y[i] = sqrt(0.5 + x[i] * x[i] + s * s) + x[i]
)");
  EXPECT_THROW((void)lead_with_terms(q), SchedulingError);
  EXPECT_THROW((void)lead_with_terms(parse(R"(
def f(x: i32[4], y: i32):
    y = x[0] * x[1] + x[2] * x[3] + x[0]
)")),
               SchedulingError);
}

TEST(Arithmetic, counts_are_converted_before_they_are_added) {
  const ProcPtr p = parse(R"(
def f(x: f32[8], n: i32, y: f32):
    for i in seq(0, 8):
        n += select(2.0, x[i], 1.0, 0.0)
        y += x[i]
)");
  const ProcPtr q = convert_ahead(p);
  check(*q);
  EXPECT_EQ(body(q), R"(for i in seq(0, 8):
    n_part : i32 @ DRAM
    n_part = select(2.0, x[i], 1.0, 0.0)
    n += n_part
    y += x[i]
)");
  EXPECT_THROW((void)convert_ahead(q), SchedulingError);
}

// Bytes that are compared for words, one of them twice.
TEST(Arithmetic, what_is_chosen_of_bytes_is_widened_first) {
  const ProcPtr p = parse(R"(
def f(x: i8[8], y: i8[8], n: i32, z: i32[8], b: i8[8]):
    for i in seq(0, 8):
        n += select(x[i], 0, x[i], select(y[i], 3, 0, 1))
        z[i] = fmax(x[i], 0)
        b[i] = fmax(x[i], 0)
        z[i] = select(x[i] + y[i], 0, 0, 1)
)");
  const ProcPtr q = convert_ahead(p);
  check(*q);
  const std::string text = body(q);
  EXPECT_NE(text.find("x_wide : i32"), std::string::npos) << text;
  EXPECT_NE(text.find("n += select(x_wide, 0, x_wide, select(y_wide, 3, 0, 1))"), std::string::npos)
      << text;
  EXPECT_NE(text.find("z[i] = fmax(x_wide_1, 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("b[i] = fmax(x[i], 0)"), std::string::npos) << "of one type: " << text;
  EXPECT_NE(text.find("select(x[i] + y[i], 0, 0, 1)"), std::string::npos) << "wraps: " << text;
}

// A literal, and what is made of literals alone, is another number in each type.
TEST(Arithmetic, literals_of_several_types_are_not_alike) {
  EXPECT_THROW((void)share_operations(parse(R"(
def f(x: f32[9], w: f64[9]):
    for i in seq(0, 9):
        x[i] = sqrt(2.0) + 2.0 / sqrt(3.0)
        w[i] = sqrt(2.0) + 3.0 / sqrt(3.0)
)")),
               SchedulingError);
  const ProcPtr p = parse("def f(c: i32, y: f32):\n    y = 1.0 / 3.0\n    c = 1.0 / 3.0\n");
  EXPECT_EQ(body(bind_expr(p, "1.0 / 3.0", "t", true)),
            "t : f32 @ DRAM\nt = 1.0 / 3.0\ny = t\nc = 1 / 3\n");
}

}  // namespace
}  // namespace exotune
