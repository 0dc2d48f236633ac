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
      "becomes i32\nhint: `i32(b[i]) * i32(b[i])` is computed in i32\n");
  EXPECT_EQ(said_of("x[i] = fmax(u[i] - 1, 0)"),
            "t.exo:3:16: warning: `fmax(u[i] - 1, 0)` is computed in ui8, where it may wrap, and "
            "only then becomes f32\nhint: `fmax(f32(u[i]) - 1, 0)` is computed in f32\n");
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
        "x[i] = x[i] * x[i]", "y[i] += x[i] * x[i]", "w[i] = i32(i % 100) * 3"})
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

}  // namespace
}  // namespace exotune
