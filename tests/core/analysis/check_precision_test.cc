// Precisions: one in an operator and a function, literals that fit, casts in range.
#include <gtest/gtest.h>

#include "tests/said.h"
#include "text.h"

namespace exotune {
namespace {
using testing::parse;
using testing::refusal;

TEST(Check, mixed_precisions_in_one_operator_are_refused) {
  const std::string head = R"(
@proc
def f(a: f32, b: f64, c: f64):
)";
  EXPECT_EQ(refusal(head + "    c = a * b\n"), "mixed precisions in one operator: f32 and f64");
  EXPECT_EQ(refusal(head + "    c = a\n"), "");
  EXPECT_EQ(refusal(head + "    c = 2.0 * b\n"), "");
}

TEST(Check, an_undecided_precision_is_f32_in_code) {
  const std::string text = R"(
@proc
def f(a: R, b: f64, c: f64):
    c = a * b
)";
  EXPECT_EQ(refusal(text), "");
  EXPECT_EQ(refusal(text, true), "mixed precisions in one operator: f32 and f64");
}

TEST(Check, literals_fit_the_type_of_their_place) {
  auto stored = [](const std::string& type, const std::string& value) {
    return refusal("@proc\ndef f(x: " + type + "):\n    x = " + value + "\n");
  };
  EXPECT_EQ(stored("i8", "300.0"), "i8 cannot hold 300");
  EXPECT_EQ(stored("i32", "1e20"), "i32 cannot hold 1e+20");
  EXPECT_EQ(stored("i8", "x * 0.5"), "i8 cannot hold 0.5, which is no integer");
  EXPECT_EQ(stored("ui8", "-1.0"), "ui8 cannot hold -1");
  EXPECT_EQ(stored("f32", "1e39"), "f32 cannot hold 1e+39");
  EXPECT_EQ(stored("f16", "70000.0"), "f16 cannot hold 70000.0");
  EXPECT_EQ(stored("i8", "select(x, 200, x, x)"), "i8 cannot hold 200");
  for (const char* fits : {"-128", "127", "x * 3 + 1"}) EXPECT_EQ(stored("i8", fits), "") << fits;
  for (const char* fits : {"0.1", "1e38", "1e-60"}) EXPECT_EQ(stored("f32", fits), "") << fits;
  EXPECT_EQ(stored("f16", "65519.0"), "");
  EXPECT_EQ(stored("R", "1e300"), "");
  EXPECT_EQ(refusal("@proc\ndef f(x: R):\n    x = 1e300\n", true), "f32 cannot hold 1e+300");
}

TEST(Check, casts_are_in_the_range_of_their_type) {
  EXPECT_EQ(refusal("@proc\ndef f(n: size, x: i8):\n    x = i8(n)\n"),
            "i8 may not hold n: n <= 127 fails for n = 128");
  EXPECT_EQ(refusal("@proc\ndef f(n: index, x: ui8):\n    x = ui8(n % 256)\n"), "");
  EXPECT_EQ(refusal("@proc\ndef f(n: size, x: f32):\n    x = f32(n)\n"), "");
  EXPECT_EQ(refusal("@proc\ndef f(n: size, x: f64):\n    x = x * f32(n)\n"),
            "mixed precisions in one operator: f64 and f32");
}

TEST(Check, a_cast_that_may_not_fit_says_which_assert_helps) {
  auto hint = [](const std::string& body) {
    return said_by([&] { check(*parse("@proc\ndef f(K: size, x: i32[K], y: i8):\n" + body)); });
  };
  EXPECT_NE(hint("    for k in seq(0, K):\n        x[k] = i32(k)\n")
                .find("hint: write `assert K <= 2147483647` at the top of the procedure"),
            std::string::npos);
  EXPECT_NE(hint("    y = i8(K)\n").find("hint: write `assert K <= 127` at"), std::string::npos);
  EXPECT_NE(hint("    y = i8(2 * K)\n").find("hint: an `assert` at the top"), std::string::npos);
  EXPECT_EQ(hint("    assert K <= 127\n    y = i8(K)\n"), "accepted");
}

TEST(Check, arguments_of_one_function_have_one_precision) {
  const std::string head = "@proc\ndef f(x: f32, s: f32, w: i32, d: f64):\n";
  EXPECT_EQ(refusal(head + "    w = select(x, s, w, 0)\n"),
            "mixed precisions in `select`: x is f32, and w is i32");
  EXPECT_EQ(refusal(head + "    d = fmax(0.0, fmax(d, x))\n"),
            "mixed precisions in `fmax`: d is f64, and x is f32");
  EXPECT_EQ(refusal(head + "    x = select(0.0, x, s, 1.0)\n"), "");
  EXPECT_NE(said_by([&] { check(*parse(head + "    w = select(x, s, w, 0)\n")); })
                .find("hint: what is compared and what is chosen have one precision: write "
                      "`select(x, s, f32(w), 0.0)`, or cast by an assignment to a buffer"),
            std::string::npos);
}

// The hint never asks for a type that loses what the other holds.
TEST(Check, the_narrower_of_two_precisions_is_cast) {
  const auto hint = [](const std::string& statement) {
    return said_by(
        [&] { check(*parse("@proc\ndef f(x: f32, b: i8, w: i32, d: f64):\n    " + statement)); });
  };
  EXPECT_NE(hint("w = select(b, 0, w, 1)\n").find("write `select(i32(b), 0, w, 1)`"),
            std::string::npos);
  EXPECT_NE(hint("d = d * x\n").find("write `f64(x)` for `x`"), std::string::npos);
  EXPECT_NE(hint("x = w + x\n").find("write `f32(w)` for `w`"), std::string::npos);
  EXPECT_NE(hint("x = sqrt(w)\n").find("write `sqrt(f32(w))`"), std::string::npos);
}

TEST(Check, functions_of_reals_take_no_integers) {
  EXPECT_EQ(refusal("@proc\ndef f(x: i32):\n    x = log(x)\n"),
            "log is not defined on i32: log(x)");
  EXPECT_EQ(refusal("@proc\ndef f(x: i32):\n    x = fabs(x)\n"), "");
}

}  // namespace
}  // namespace exotune
