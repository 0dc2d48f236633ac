#include "core/analysis/warnings.h"

#include <gtest/gtest.h>

#include "text.h"

namespace exotune {
namespace {

const std::string kArguments =
    "N: size, b: i8[N], u: ui8[N], h: i16[N], w: i32[N], x: f32[N], y: f64[N]";

/// All warnings of a loop over `body`, one after the other.
std::string said_of(const std::string& body) {
  std::string out;
  const ProcPtr p =
      testing::parse("def f(" + kArguments + "):\n    for i in seq(0, N):\n        " + body + "\n");
  for (const Diagnostic& d : warnings(*p)) out += d.str("warning");
  return out;
}

TEST(Warnings, a_product_of_narrow_integers_that_is_stored_wider) {
  EXPECT_EQ(
      said_of("w[i] += b[i] * b[i]"),
      "t.exo:3:22: warning: `b[i] * b[i]` is computed in i8, where it may wrap, and only then "
      "becomes i32\nhint: `i32(b[i]) * i32(b[i])` is computed in i32; where it never wraps, or is "
      "meant to, a scalar says so: `t: i8 = b[i] * b[i]`, and `t` for it\n");
  EXPECT_EQ(said_of("t: i8 = b[i] * b[i]\n        w[i] += t"), "");
  EXPECT_EQ(
      said_of("x[i] = fmax(u[i] - 1, 0)"),
      "t.exo:3:16: warning: `fmax(u[i] - 1, 0)` is computed in ui8, where it may wrap, and "
      "only then becomes f32\nhint: `fmax(f32(u[i]) - 1, 0)` is computed in f32; where it never "
      "wraps, or is meant to, a scalar says so: `t: ui8 = fmax(u[i] - 1, 0)`, and `t` for it\n");
}

// f32(u[i]) / 3 would be a third.
TEST(Warnings, a_quotient_of_integers_stays_one) {
  EXPECT_NE(
      said_of("x[i] = 4 * (u[i] / 3)").find("hint: `f32(4 * (i32(u[i]) / 3))` is computed in i32"),
      std::string::npos)
      << said_of("x[i] = 4 * (u[i] / 3)");
  EXPECT_NE(said_of("w[i] = 4 * (u[i] / 3)").find("hint: `4 * (i32(u[i]) / 3)` is computed in i32"),
            std::string::npos);
}

TEST(Warnings, a_negative_byte_that_is_added_to_a_wider_sum) {
  EXPECT_NE(said_of("w[i] -= u[i]").find("hint: `-i32(u[i])` is computed in i32"),
            std::string::npos);
}

TEST(Warnings, nothing_of_what_cannot_wrap_or_stays_as_wide) {
  for (const char* fine :
       {"w[i] += b[i]", "u[i] = u[i] + u[i]", "u[i] -= u[i]", "w[i] += w[i] * w[i]",
        "w[i] += i32(b[i]) * i32(b[i])", "w[i] += i16(b[i]) * i16(b[i])",
        "w[i] += i16(u[i]) - i16(u[i])", "w[i] = fmax(b[i], 0)", "w[i] = b[i] / 2",
        "x[i] = x[i] * x[i]", "y[i] += x[i] * x[i]", "w[i] = i32(i % 100) * 3",
        "x[i] = u[i] - 16 * (u[i] / 16)", "x[i] = b[i] - (b[i] / 16) * 16 - 8",
        "x[i] = u[i] / 4 * 4"})
    EXPECT_EQ(said_of(fine), "") << fine;
}

TEST(Warnings, a_cast_to_what_is_still_too_narrow) {
  EXPECT_NE(
      said_of("w[i] += i16(u[i]) * i16(u[i])")
          .find("`i16(u[i]) * i16(u[i])` is computed in i16, where it may wrap, and only then "
                "becomes i32\nhint: `i32(u[i]) * i32(u[i])` is computed in i32"),
      std::string::npos);
  EXPECT_NE(said_of("w[i] += i8(w[i]) * b[i]").find("hint: `i32(i8(w[i])) * i32(b[i])`"),
            std::string::npos);
  EXPECT_NE(said_of("w[i] += i32(b[i] * b[i])"), "");
}

// The digits that wrap away are those that a quotient, a limit or a sign would have looked at.
TEST(Warnings, what_wraps_before_its_high_digits_count) {
  EXPECT_EQ(
      said_of("u[i] = (u[i] + u[i] + 1) / 2"),
      "t.exo:3:29: warning: `u[i] + u[i] + 1` is computed in ui8, where it may wrap, and only "
      "then divided\nhint: `(i16(u[i]) + i16(u[i]) + 1) / 2` is computed in i16; where it "
      "never wraps, or is meant to, a scalar says so: `t: ui8 = u[i] + u[i] + 1`, and `t` for "
      "it\n");
  EXPECT_NE(said_of("h[i] = (h[i] * 181 + 128) / 256")
                .find("hint: `(i32(h[i]) * 181 + 128) / 256` is computed in i32"),
            std::string::npos)
      << said_of("h[i] = (h[i] * 181 + 128) / 256");
  EXPECT_NE(said_of("u[i] = fmin(u[i] + 1, 255)")
                .find("`u[i] + 1` is computed in ui8, where it may wrap, and only then compared "
                      "with 255, beyond which there is no ui8"),
            std::string::npos)
      << said_of("u[i] = fmin(u[i] + 1, 255)");
  EXPECT_NE(said_of("b[i] = fmax(-128, fmin(127, b[i] + b[i]))").find("compared with 127"),
            std::string::npos);
  EXPECT_NE(said_of("u[i] = fmax(u[i] - 9, 0)").find("compared with 0, beyond which there is no"),
            std::string::npos);
  EXPECT_NE(said_of("u[i] = select(u[i] + 9, 255, u[i] + 9, 255)").find("compared with 255"),
            std::string::npos);
  EXPECT_NE(said_of("b[i] = fabs(b[i] - 9)").find("and only then loses its sign"),
            std::string::npos);
  EXPECT_NE(said_of("u[i] = relu(u[i] - 9)").find("and only then loses its sign"),
            std::string::npos);
}
TEST(Warnings, what_wraps_before_it_is_compared) {
  for (const char* wrong :
       {"u[i] = select(u[i] - u[i], 10, u[i], 3)", "b[i] = fmax(b[i] + b[i], b[i])",
        "h[i] max= h[i] * h[i]", "u[i] = fmin(u[i] + 1, 200)", "h[i] = fmin(h[i] * h[i], h[i])"})
    EXPECT_NE(said_of(wrong).find("where it may wrap, and only then compared\n"), std::string::npos)
        << said_of(wrong);
}
// The opposite of an unsigned number is none of them.
TEST(Warnings, no_scalar_for_what_always_wraps) {
  EXPECT_NE(said_of("w[i] -= u[i]").find("hint: `-i32(u[i])` is computed in i32\n"),
            std::string::npos)
      << said_of("w[i] -= u[i]");
}
TEST(Warnings, nothing_of_limits_and_quotients_that_see_all_of_a_value) {
  for (const char* fine :
       {"h[i] = fmin(h[i] + 1, 200)", "h[i] = fmax(h[i] + h[i], -20000)", "b[i] = fmax(b[i], -128)",
        "u[i] = u[i] / 2 + u[i] / 2", "h[i] = (i16(u[i]) + i16(u[i]) + 1) / 2",
        "h[i] = (h[i] + h[i] + h[i]) / 3", "u[i] = (i16(u[i]) * 3 + i16(u[i])) / 4",
        "b[i] = fabs(b[i])", "w[i] = fabs(w[i] - 9)", "h[i] = select(h[i] + h[i], 3, h[i], 3)",
        "u[i] = u[i] - 16 * (u[i] / 16)"})
    EXPECT_EQ(said_of(fine), "") << fine;
}

/// The warnings of a whole procedure.
std::string said_of_proc(const std::string& text) {
  std::string out;
  for (const Diagnostic& d : warnings(*testing::parse(text))) out += d.str("warning");
  return out;
}

TEST(Warnings, an_iterator_that_hides_an_argument_or_a_loop) {
  EXPECT_EQ(said_of_proc("def f(n: size, k: f32, x: f32[n]):\n    for k in seq(0, n):\n"
                         "        x[k] = 0.0\n"),
            "t.exo:2:5: warning: the iterator `k` hides the argument `k`\nhint: in the loop `k` "
            "counts its iterations; give it another name\n");
  EXPECT_NE(said_of_proc("def f(n: size, x: f32[n]):\n    for i in seq(0, n):\n"
                         "        for i in seq(0, 4):\n            x[0] += 1.0\n")
                .find("t.exo:3:9: warning: the iterator `i` hides the iterator of the loop around"),
            std::string::npos);
  EXPECT_EQ(said_of_proc("def f(n: size, x: f32[n]):\n    for i in seq(0, n):\n        x[i] = 0.0\n"
                         "    for i in seq(0, n):\n        x[i] = 0.0\n"),
            "");
}

}  // namespace
}  // namespace exotune
