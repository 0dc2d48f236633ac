// What a hint says to write is a program that `check` accepts: each message's own words are put in
// the place of what was refused.
#include "suggestions.h"

namespace exotune {
namespace {

// A value in an assignment to `target` that is refused, and the hint's last words in its place.
struct Value {
  const char *target, *refused, *suggested;
};

TEST(Suggestions, of_values_are_accepted) {
  const Value values[] = {
      {"a[i]", "a[i] % 65521", "a[i] - 65521 * (a[i] / 65521)"},
      {"a[i]", "i32(b[i]) % (a[i] + 1)", "i32(b[i]) - (a[i] + 1) * (i32(b[i]) / (a[i] + 1))"},
      {"a[i]", "(a[i] + u[i]) % 65521",
       "(a[i] + i32(u[i])) - 65521 * ((a[i] + i32(u[i])) / 65521)"},
      {"a[i]", "u[i] % 300", "i32(u[i]) - 300 * (i32(u[i]) / 300)"},
      {"h[i]", "b[i] % u[i]", "i16(b[i]) - i16(u[i]) * (i16(b[i]) / i16(u[i]))"},
      {"y[i]", "x[i] % (a[i] / 2)", "fmod(x[i], f32(a[i] / 2))"},
      {"y[i]", "x[i] % 2.0", "fmod(x[i], 2.0)"},
      {"y[i]", "x[i] if x[i] > 0.0 else 0.0", "select(0.0, x[i], x[i], 0.0)"},
      {"y[i]", "2.0 * (x[i] if a[i] >= 3 else i) + 1.0", "select(f32(a[i]), 3, f32(i), x[i])"},
      {"y[i]", "1.0 if x[i] < y[i] else 2.0 if y[i] < 3.0 else x[i]",
       "select(x[i], y[i], 1.0, select(y[i], 3.0, 2.0, x[i]))"},
      {"d[i]", "x[i] % d[i]", "fmod(f64(x[i]), d[i])"},
      {"y[i]", "fma(x[i], 2.0, y[i])", "x[i] * 2.0 + y[i]"},
      {"y[i]", "fma(x[i] + 1.0, -y[i], 2.0)", "(x[i] + 1.0) * (-y[i]) + 2.0"},
      {"y[i]", "clamp(x[i], 0.0, 1.0)", "fmin(fmax(x[i], 0.0), 1.0)"},
      {"y[i]", "rsqrt(x[i])", "1.0 / sqrt(x[i])"},
      {"y[i]", "copysign(x[i], y[i])", "select(y[i], 0.0, -fabs(x[i]), fabs(x[i]))"},
      {"y[i]", "atanh(x[i] * 0.5)", "0.5 * log((1.0 + (x[i] * 0.5)) / (1.0 - (x[i] * 0.5)))"},
      {"y[i]", "sign(x[i])", "select(x[i], 0.0, -1.0, select(0.0, x[i], 1.0, 0.0))"},
      {"y[i]", "gelu(x[i])", "0.5 * x[i] * (1.0 + erf(0.7071067811865476 * x[i]))"},
      {"y[i]", "fmin(x[i], y[i], 0.0)", "fmin(x[i], fmin(y[i], 0.0))"},
      {"y[i]", "min(x[i], y[i], 0.0)", "fmin(x[i], fmin(y[i], 0.0))"},
      {"d[i]", "d[i] * i", "f64(i)"},
      {"y[i]", "i % 2 + 1", "f32(i % 2 + 1)"},
      {"d[i]", "(N - i) / 4", "f64((N - i) / 4)"},
      {"y[i]", "a[i] * 0.5", "f32(a[i]) * 0.5"},
      {"y[i]", "1.0 / (a[i] + 1)", "1 / (a[i] + 1)"},
      {"y[i]", "a[i] / 0.5", "f32(a[i]) / 0.5"},
      {"a[i]", "a[i] * 0.5 + a[i]", "f32(a[i]) * 0.5 + f32(a[i])"},
      {"d[i]", "i32(b[i]) * 0.5", "f64(b[i]) * 0.5"},
      {"y[i]", "sqrt(a[i])", "sqrt(f32(a[i]))"},
      {"y[i]", "log(i32(b[i]) + 1)", "log(f32(b[i]) + 1)"},
      {"y[i]", "fmax(x[i], a[i])", "fmax(x[i], f32(a[i]))"},
      {"a[i]", "(x[i] < y[i]) and 1.0 <= x[i]", "select(x[i], y[i], select(x[i], 1.0, 0, 1), 0)"},
      {"a[i]", "not (x[i] < y[i] or x[i] > 2.0)", "select(x[i], y[i], 0, select(2.0, x[i], 0, 1))"},
      {"y[i]", "0.0 < x[i] < y[i]", "select(0.0, x[i], select(x[i], y[i], 1, 0), 0)"},
      {"y[i]", "x[i] == y[i]", "select(x[i], y[i], 0, select(y[i], x[i], 0, 1))"},
      {"y[i]", "select(x[i] < y[i] and x[i] != 0.0, y[i], 2.0)",
       "select(x[i], y[i], select(x[i], 0.0, y[i], select(0.0, x[i], y[i], 2.0)), 2.0)"},
      // What narrow integers add up to, or multiply to, is an int in C.
      {"h[i]", "(h[i] + 4) >> 3", "(i32(h[i]) + 4 + 1073741824) / 8 - 134217728"},
      {"u[i]", "(u[i] + u[0] + 1) >> 1", "(i32(u[i]) + i32(u[0]) + 1) / 2"},
      {"h[i]", "(h[i] * h[0]) % 3329",
       "(i32(h[i]) * i32(h[0])) - 3329 * ((i32(h[i]) * i32(h[0])) / 3329)"},
      {"a[i]", "(u[i] & 15) - 8", "i32(u[i]) - 16 * (i32(u[i]) / 16) - 8"},
      {"y[i]", "f32((i - 2) * (i - 2))", "f32(i - 2) * f32(i - 2)"},
      {"b[i]", "b[i] >> 1", "(b[i] + 64) / 2 - 32"},
      {"a[i]", "(a[i] - 1) * 3 >> 2", "((a[i] - 1) * 3 + 1073741824) / 4 - 268435456"},
      {"a[i]", "a[i] >> 31", "select(a[i], 0, -1, 0)"},
      {"u[i]", "(u[i] + 1) >> W", "(i32(u[i]) + 1) / 16"},
      {"u[i]", "u[i] & 15", "u[i] - 16 * (u[i] / 16)"},
      {"h[i]", "h[i] & 7", "h[i] + 16384 - 8 * ((h[i] + 16384) / 8)"},
      {"u[i]", "u[i] << 2", "u[i] * 4"},
      {"a[i]", "u[i] << 8", "i32(u[i]) * 256"},
      {"y[i]", "(N - i) >> 2", "f32((N - i) / 4)"},
      {"a[i]", "i & 1", "i32(i % 2)"},
      {"a[i]", "1 << W", "16"},
      // All of it at once, in one precision.
      {"u[i]", "(u[i] << 1) ^ (u[i] >> 7)", "u[i] * 2 + u[i] / 128"},
      {"u[i]", "(u[i] << 1) | (u[i] & 15)", "u[i] * 2 + u[i] - 16 * (u[i] / 16)"},
      {"a[i]", "(u[i] << 8 | u[i]) & 1023",
       "i32(u[i]) * 256 + i32(u[i]) + 1073741824 - "
       "1024 * ((i32(u[i]) * 256 + i32(u[i]) + 1073741824) / 1024)"},
      {"y[i]", "x[i] + (u[i] >> 4) + (i >> 1)", "x[i] + f32(u[i] / 16) + f32(i / 2)"},
      {"y[i]", "hypot(x[i], f64(a[i]))", "hypot(f64(x[i]), f64(a[i]))"},
      // All that is assigned at once.
      {"h[i]", "select(u[i], u[0], -h[i], select(u[0], u[i], -h[i], h[0]))",
       "select(i16(u[i]), i16(u[0]), -h[i], select(i16(u[0]), i16(u[i]), -h[i], h[0]))"},
      {"y[i]", "x[i] * a[i] + b[i]", "x[i] * f32(a[i]) + f32(b[i])"},
      {"d[i]", "x[i] * a[i] + d[i]", "f64(x[i]) * f64(a[i]) + d[i]"},
      {"h[i]", "b[i] * u[i]", "i16(b[i]) * i16(u[i])"},
      {"y[i]", "x[i] * b[i] + a[i] / 2", "x[i] * f32(b[i]) + f32(a[i] / 2)"},
      {"a[i]", "select(y[i], x[i], i32(i), a[i])", "select(y[i], x[i], f32(i), f32(a[i]))"}};
  for (const Value& v : values) {
    const std::string assigned = std::string(v.target) + " = ";
    const std::vector<std::string> words = suggested(in_loop(assigned + v.refused));
    EXPECT_NE(std::find(words.begin(), words.end(), v.suggested), words.end())
        << said(in_loop(assigned + v.refused));
    EXPECT_EQ(said(in_loop(assigned + v.suggested)), "accepted") << v.suggested;
  }
}

TEST(Suggestions, of_operands_are_accepted) {
  const auto words = [](const std::string& value) {
    const std::vector<std::string> all = suggested(in_loop("y[i] = " + value));
    return all.at(0) + " for " + all.at(1);
  };
  EXPECT_EQ(words("x[i] + a[i]"), "f32(a[i]) for a[i]");
  EXPECT_EQ(words("x[i] * i32(b[i])"), "f32(b[i]) for i32(b[i])");
  EXPECT_EQ(words("x[i] * i16(i)"), "f32(i) for i16(i)");
  for (const char* value : {"x[i] + f32(a[i])", "x[i] * f32(b[i])", "x[i] * f32(i)"})
    EXPECT_EQ(said(in_loop("y[i] = " + std::string(value))), "accepted");
}

// The words are the user's: not the scalar that a cast becomes, not a number for an integer.
TEST(Suggestions, name_casts_as_they_are_written) {
  const std::string message = said(in_loop("a[i] = select(y[i], x[i], i16(b[i]), 3)"));
  EXPECT_NE(message.find("y[i] is f32, and i16(b[i]) is i16"), std::string::npos) << message;
  EXPECT_EQ(message.find("b_i16"), std::string::npos) << message;
  EXPECT_NE(said(in_loop("b[i] = i8(h[i]) + 300")).find("i8 cannot hold 300\n"), std::string::npos);
  EXPECT_NE(said(in_loop("if i < 9:\n            a[i] = select(y[i], x[i], f32(i32(i)), a[i])"))
                .find("write `select(y[i], x[i], f32(i32(i)), f32(a[i]))`"),
            std::string::npos);
  // What a user allocates keeps its name.
  EXPECT_NE(said(in_loop("t: i16 = b[i]\n        y[i] = x[i] * t")).find("write `f32(t)` for `t`"),
            std::string::npos);
}

TEST(Suggestions, of_loops_over_a_band_are_accepted) {
  const auto band = [](const std::string& bounds) {
    return in_loop("for j in seq(" + bounds + "):\n            y[i] += x[j]");
  };
  std::vector<std::string> words = suggested(band("max(0, i - 16), min(N, i + 17)"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0], "for w in seq(0, 33):");
  EXPECT_EQ(words[1], "if 0 <= i + w - 16 and i + w - 16 < N:");
  EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1] + "\n                y[i] += x[" +
                         words[2] + "]")),
            "accepted");

  for (const char* bounds : {"max(i - 2, 0), N", "0, min(N, i + 3)", "max(0, i - M), min(N, i + M)",
                             "max(0, i - 2), min(i + M, N)"}) {
    words = suggested(band(bounds));
    // A band as wide as a size has its own iterator and says where it is.
    ASSERT_TRUE(words.size() == 2u || words.size() == 4u) << bounds;
    const std::string at = words.size() == 2u ? "j" : words[2];
    EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1] + "\n                y[i] += x[" +
                           at + "]")),
              "accepted")
        << words[0] << words[1];
  }
  EXPECT_NE(said(band("max(0, i - 2), N")).find("the bounds of a loop take no `max`"),
            std::string::npos);
}

// An index that is the larger or the smaller of two, by a name and in its place.
TEST(Suggestions, of_two_cases_are_accepted) {
  const auto in_cases = [](const std::string& condition, const std::string& a,
                           const std::string& b) {
    return in_loop(condition + "\n            y[i] = x[" + a + "]\n        else:\n" +
                   "            y[i] = x[" + b + "]");
  };
  for (const char* value : {"max(i - 1, 0)", "min(i + 1, N - 1)", "abs(i)"}) {
    const std::vector<std::string> words =
        suggested(in_loop("im = " + std::string(value) + "\n        y[i] = x[im]"));
    // `max`, the condition, what is meant there, `im`, `else:`, what is meant there.
    ASSERT_EQ(words.size(), 6u) << value;
    EXPECT_EQ(said(in_cases(words[1], words[2], words[5])), "accepted") << value;
  }
  const std::vector<std::string> words = suggested(in_loop("y[i] = x[abs(i)]"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(said(in_cases(words[0], words[1], words[3])), "accepted");
  EXPECT_NE(said(in_loop("y[i] = sum(x[j] for j in range(0, i))")).find("is written out"),
            std::string::npos);
}

TEST(Suggestions, of_ranges_are_accepted) {
  const std::pair<const char*, const char*> ranges[] = {{"range(N)", "seq(0, N)"},
                                                        {"range(1, N)", "seq(1, N)"},
                                                        {"seq(N)", "seq(0, N)"},
                                                        {"par(N / 2)", "par(0, N / 2)"}};
  for (const auto& [range, instead] : ranges) {
    const auto loop = [](const std::string& over) {
      return kHead + "        y[i] = 0.0\n    for j in " + over + ":\n        y[j] = x[j]\n";
    };
    EXPECT_EQ(suggested(loop(range)).at(0), instead);
    EXPECT_EQ(said(loop(instead)), "accepted");
  }
  // At once what `seq` would be refused for.
  EXPECT_EQ(suggested(in_loop("for j in range(0, N, 2):\n            y[i] += x[j]")).at(0),
            "for j in seq(0, (N + 1) / 2):");
  EXPECT_EQ(suggested(in_loop("for j in range(max(0, i - 2), i + 3):\n            pass")).at(0),
            "for w in seq(0, 5):");
}

TEST(Suggestions, of_neighbours_on_a_ring_are_accepted) {
  for (const char* at : {"(i - 1) % N", "(i + 1) % N", "(N - 1 - i) % N", "(i + 3 - 4) % N"}) {
    const std::vector<std::string> words = suggested(in_loop("y[i] = x[" + std::string(at) + "]"));
    ASSERT_EQ(words.size(), 4u) << at;
    EXPECT_EQ(said(in_loop(words[0] + "\n            y[i] = x[" + words[1] + "]\n        " +
                           words[2] + "\n            y[i] = x[" + words[3] + "]")),
              "accepted")
        << at;
  }
}

TEST(Suggestions, of_choices_by_sizes_are_accepted) {
  const std::vector<std::string> words = suggested(in_loop("y[i] = select(i, 5, x[i], 0.0)"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(said(in_loop(words[0] + "\n            y[i] = " + words[1] + "\n        " + words[2] +
                         "\n            y[i] = " + words[3])),
            "accepted");
  EXPECT_EQ(said(in_loop("y[i] = select(f32(i), 5, x[i], 0.0)")), "accepted");
  EXPECT_EQ(said(in_loop("y[i] = select(2, 5, x[i], 0.0)")), "accepted");
}

// `if` by data: its assignment by `select`, which is the same where nothing is assigned.
TEST(Suggestions, of_branches_by_data_are_accepted) {
  const std::pair<const char*, const char*> branches[] = {
      {"if x[i] > 0.0:\n            y[i] = x[i]", "y[i] = select(0.0, x[i], x[i], y[i])"},
      {"if x[i] > 0.5 and x[i] < 2.0:\n            a[i] = 1\n        elif x[i] > 3.0:\n"
       "            a[i] = 2\n        else:\n            a[i] = 0",
       "a[i] = select(0.5, x[i], select(x[i], 2.0, 1, select(3.0, x[i], 2, 0)), "
       "select(3.0, x[i], 2, 0))"},
      {"if a[i] != 0:\n            y[i] += x[i]",
       "y[i] += select(f32(a[i]), 0, x[i], select(0, f32(a[i]), x[i], 0))"},
      {"if fabs(x[i]) < y[i]:\n            y[i] max= 2.0",
       "y[i] max= select(fabs(x[i]), y[i], 2.0, y[i])"}};
  for (const auto& [branch, instead] : branches) {
    const std::vector<std::string> words = suggested(in_loop(branch));
    EXPECT_EQ(words.back(), instead) << said(in_loop(branch));
    EXPECT_EQ(said(in_loop(instead)), "accepted") << instead;
  }
  const std::string both =
      said(in_loop("if x[i] > 0.0:\n            x[i] = 2.0\n            y[i] = 1.0"));
  EXPECT_NE(both.find("write `y[i] = select(0.0, x[i], 1.0, y[i])`, then `x[i] = "),
            std::string::npos)
      << both;
}

TEST(Suggestions, of_data_beside_iterators_are_accepted) {
  const std::vector<std::string> words =
      suggested(in_loop("if x[i] > 0.5 and i > 2:\n            y[i] = 1.0"));
  ASSERT_EQ(words.front(), "if i > 2:");
  EXPECT_EQ(words.back(), "y[i] = select(0.5, x[i], 1.0, y[i])");
  EXPECT_EQ(said(in_loop(words.front() + "\n            " + words.back())), "accepted");
  const std::string of_a_cast = suggested(in_loop("y[i] += f32(x[i] < 0.5)")).back();
  EXPECT_EQ(of_a_cast, "select(x[i], 0.5, 1, 0)");
  EXPECT_EQ(said(in_loop("y[i] += " + of_a_cast)), "accepted");
}

TEST(Suggestions, of_arguments_that_decide_are_accepted) {
  const auto with = [](const std::string& mode) {
    return "def f(N: size, " + mode + ", x: f32[N]):\n    for i in seq(0, N):\n" +
           "        if mode == 1 and i > 0:\n            x[i] = f32(mode)\n";
  };
  const std::vector<std::string> words = suggested(with("mode: i32"));
  EXPECT_EQ(words.at(0), "mode: index");
  EXPECT_EQ(said(with(words.at(0))), "accepted");
}

TEST(Suggestions, of_loops_that_end_by_data_are_accepted) {
  const std::vector<std::string> words =
      suggested(in_loop("for k in seq(0, 8):\n            if x[i] * f32(k) > 4.0:\n"
                        "                break\n            y[i] += x[i]"));
  ASSERT_EQ(words.size(), 6u);
  EXPECT_EQ(words[1], "on = select(4.0, x[i] * f32(k), 0.0, on)");
  EXPECT_EQ(words[3], "select(0, on, c, d)");
  EXPECT_EQ(said(in_loop(words[0] + "\n        for k in seq(0, 8):\n            " + words[1] +
                         "\n            y[i] += select(0, on, x[i], 0.0)")),
            "accepted");
}

// Of all accesses of the line at once.
TEST(Suggestions, of_accesses_out_of_bounds_are_accepted) {
  struct Access {
    const char *loops, *line, *loop, *condition;
  };
  const Access accesses[] = {
      {" for i in seq(0, N):\n  for j in seq(0, M):", "m[i, j] = m[i, j - 1]",
       "for j in seq(1, M):", "j >= 1"},
      {" for i in seq(0, N):", "y[i] = x[i - D] + x[i]", "for i in seq(D, N):", "i >= D"},
      {" for i in seq(0, N):", "y[i] = x[i - 1] + x[i + 1]",
       "for i in seq(1, N - 1):", "i >= 1 and i + 1 < N"},
      {" for i in par(0, N):", "y[N - i] = x[i]", "for i in par(1, N):", "0 < i"},
      {" for i in seq(0, N):", "y[i] = f32(b[i + 2]) * x[i - 1]",
       "for i in seq(1, N - 2):", "i + 2 < N and i >= 1"},
      {" for i in seq(0, N):", "y[2 * i] = x[i]", "", "2 * i < N"}};
  const std::string head =
      "def f(N: size, M: size, D: size, x: f32[N], y: f32[N], m: f32[N, M], b: i8[N]):\n";
  for (const Access& a : accesses) {
    const std::string loops = head + a.loops + "\n        ";
    const std::string refused = loops + a.line + "\n";
    const std::vector<std::string> words = suggested(refused);
    const bool has_loop = *a.loop != 0;
    ASSERT_EQ(words.size(), has_loop ? 2u : 1u) << said(refused);
    EXPECT_EQ(words[0], has_loop ? a.loop : "if " + std::string(a.condition) + ":");
    EXPECT_EQ(words.back(), "if " + std::string(a.condition) + ":");
    EXPECT_EQ(said(loops + words.back() + "\n            " + a.line + "\n"), "accepted");
    const std::string narrower = loops.substr(0, loops.rfind("for ")) + words[0] + "\n        ";
    if (!has_loop) continue;
    EXPECT_EQ(said(narrower + a.line + "\n"), "accepted");
  }
}

// Rather than a guard, which would leave lines out where sizes are small.
TEST(Suggestions, of_what_sizes_have_to_be_are_accepted) {
  struct Case {
    const char *lines, *fact;
  };
  const Case cases[] = {
      {"    for i in seq(0, N):\n        if i + 3 < N:\n            y[i] = x[i + 3]\n"
       "        else:\n            y[i] = x[i + 3 - N]\n",
       "assert N >= 3"},
      {"    for i in seq(0, N):\n        z += w[i]\n", "assert N <= K"},
      {"    d: f32[N - 1]\n    for i in seq(0, N - 1):\n        d[i] = x[i]\n", "assert N >= 2"},
      {"    d: f32[N - K]\n    for i in seq(0, N - K):\n        d[i] = x[i]\n",
       "assert N >= K + 1"}};
  for (const Case& c : cases) {
    const std::string head = "def f(N: size, K: size, x: f32[N], y: f32[N], w: f32[K], z: f32):\n";
    const std::vector<std::string> words = suggested(head + c.lines);
    ASSERT_FALSE(words.empty()) << said(head + c.lines);
    EXPECT_EQ(words.front(), c.fact);
    EXPECT_EQ(said(head + "    " + words.front() + "\n" + c.lines), "accepted");
  }
}

TEST(Suggestions, of_several_statements_on_a_line_are_accepted) {
  for (const char* line : {"u, v = x[i], y[i]", "u: f32 = 0.5, v: f32 = x[i]", "u, v: f32",
                           "y[i] = x[i], x[i] = 1.0"}) {
    const bool declared = line[0] == 'u' && std::string(line).find(':') == std::string::npos;
    const std::string front = declared ? "u: f32\n        v: f32\n        " : "";
    const std::vector<std::string> words = suggested(in_loop(front + line));
    ASSERT_EQ(words.size(), 2u) << line;
    EXPECT_EQ(said(in_loop(front + words[0] + "\n        " + words[1])), "accepted") << line;
  }
  EXPECT_NE(said(in_loop("x[i], y[i] = y[i], x[i]")).find("keeps what is overwritten"),
            std::string::npos);
}

TEST(Suggestions, of_shifts_of_indices_are_accepted) {
  EXPECT_EQ(suggested(in_loop("y[i >> 1] = x[(i & 3) << 1]")).at(0), "i / 2");
  EXPECT_EQ(suggested(in_loop("y[i / 2] = x[(i & 3) << 1]")).at(0), "(i % 4) * 2");
}

// A dilated convolution: the sizes' product stands in a sum.
TEST(Suggestions, of_sums_with_products_are_accepted) {
  const std::string body =
      "    for t in seq(0, T):\n        for k in seq(0, K):\n"
      "            y[t] += w[k] * x[t + k * D]\n";
  std::vector<std::string> words = suggested(
      "def f(T: size, D: size, K: size, w: f32[K], x: f32[T + D * K], y: f32[T]):\n" + body);
  ASSERT_EQ(words.size(), 8u);
  EXPECT_EQ(words[5], "x: f32[L]");
  EXPECT_EQ(said("def f(T: size, " + words[4] + ", " + words[5] +
                 ", y: f32[T]):\n    assert T <= L\n    for t in seq(0, T):\n"
                 "        y[t] = x[t]\n"),
            "accepted");
  EXPECT_EQ(words[2], "def f_$D(...)");
  std::string inside = body;
  inside.replace(inside.find("* D"), 3, "* " + words[3]);
  EXPECT_EQ(said(words[1] + "\n  def f_$D(T: size, K: size, w: f32[K], x: f32[T + " + words[3] +
                 " * K], y: f32[T]):\n" + inside),
            "accepted");
  words = suggested("def f(T: size, D: size, K: size, w: f32[K], x: f32[T], y: f32[T]):\n" + body);
  ASSERT_EQ(words.size(), 9u);
  EXPECT_EQ(words[3] + words[4], "x: f32[.., D]x[k, t]");
}

// With a point nobody means the quotient that is cut.
TEST(Suggestions, of_integers_by_a_real_number_are_real) {
  const std::pair<const char*, const char*> values[] = {
      {"y[i] = a[i] / 64.0", "f32(a[i]) / 64.0"},
      {"d[i] = (a[i] + b[i]) / 2.0", "(f64(a[i]) + f64(b[i])) / 2.0"},
      {"d[i] = a[i] / 2 / 64.0", "f64(a[i] / 2) / 64.0"},
      {"y[i] = a[i] / 1e30", "f32(a[i]) / 1e+30"},
      {"y[i] = a[i] / -2.0", "f32(a[i]) / -2.0"},
      {"y[i] = a[i] / PI", "f32(a[i]) / PI"},
      {"y[i] = 3.0 / u[i]", "3.0 / f32(u[i])"}};
  for (const auto& [line, quotient] : values) {
    EXPECT_EQ(suggested(in_loop(line)).front(), quotient);
    EXPECT_EQ(said(in_loop(std::string(line).substr(0, 7) + quotient)), "accepted") << line;
  }
  EXPECT_EQ(said(in_loop("y[i] = a[i] / 64")), "accepted");
  EXPECT_EQ(said(in_loop("y[i] = x[i] / 64.0")), "accepted");
  EXPECT_EQ(said(in_loop("a[i] = a[i] / 64.0")), "accepted");
  EXPECT_EQ(said("def f(h: f16[4], y: f32[4]):\n    for i in seq(0, 4):\n"
                 "        y[i] = h[i] / 64.0\n"),
            "accepted");
}

TEST(Suggestions, of_mixed_operands_cast_what_is_computed_from) {
  const std::pair<const char*, const char*> values[] = {
      {"y[i] = 0.5 * x[i] + 0.25 * u[i]", "y[i] = 0.5 * x[i] + 0.25 * f32(u[i])"},
      {"y[i] = x[i] - 2 * u[i]", "y[i] = x[i] - 2 * f32(u[i])"},
      {"y[i] = x[i] - a[i] / 64", "y[i] = x[i] - f32(a[i] / 64)"}};
  for (const auto& [line, cast] : values) {
    const std::vector<std::string> words = suggested(in_loop(line));
    EXPECT_NE(std::string(cast).find(words.front()), std::string::npos) << words.front();
    EXPECT_EQ(said(in_loop(cast)), "accepted") << cast;
  }
}

TEST(Suggestions, of_loops_that_count_down_are_accepted) {
  const std::vector<std::string> words =
      suggested(in_loop("for t in reversed(seq(2, N)):\n            y[t] = x[t]"));
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(said(in_loop(words[0] + "\n            y[" + words[1] + "] = x[" + words[1] + "]")),
            "accepted");
}

// Where a number of the suggestion rounds, it says from where on.
TEST(Suggestions, say_where_a_floating_type_holds_some_only) {
  EXPECT_NE(said(in_loop("a[i] = select(y[i], x[i], i32(i), a[i])")).find("up to 16777216"),
            std::string::npos);
  EXPECT_EQ(said(in_loop("a[i] = select(y[i], x[i], h[i], b[i])")).find("up to"),
            std::string::npos);
}

// Shifts of negative numbers are of the floor, and so is what stands for them.
TEST(Suggestions, of_shifts_are_right_for_negative_numbers) {
  for (int x = -64; x < 64; ++x) {
    EXPECT_EQ((x + 64) / 8 - 8, x >> 3);
    EXPECT_EQ(x + 64 - 8 * ((x + 64) / 8), x & 7);
  }
}

TEST(Suggestions, of_halves_beside_others_are_in_singles) {
  const std::vector<std::string> words = suggested(
      "def f(h: f16[8], q: i8[8], x: f32[8]):\n    for i in seq(0, 8):\n        x[i] = h[i] * "
      "q[i]\n");
  EXPECT_EQ(words.front(), "f32(h[i]) * f32(q[i])");
}

TEST(Suggestions, of_conditions_as_numbers_are_both_cases) {
  const std::vector<std::string> words = suggested(
      "def f(m: index, x: f32[8]):\n    for i in seq(0, 4):\n        x[i + (m == 0)] = 0.0\n");
  EXPECT_EQ(words.front(), "if m == 0:");
}

TEST(Suggestions, of_branches_with_several_assignments_write_what_is_compared_last) {
  const auto of = [](const std::string& body) {
    return suggested("def f(x: f32[8], best: f32, arg: i32):\n    for i in seq(0, 8):\n" + body);
  };
  const std::vector<std::string> words =
      of("        if x[i] > best:\n            best = x[i]\n            arg = i32(i)\n");
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(words[words.size() - 2], "arg = select(best, x[i], f32(i), f32(arg))");
  EXPECT_EQ(words.back(), "best = select(best, x[i], x[i], best)");
  // Each reads what the other writes: what decides is kept, and their order stays.
  const std::vector<std::string> kept =
      of("        if x[i] > best:\n            best = x[i]\n            arg = best * 2.0\n");
  ASSERT_GE(kept.size(), 3u);
  EXPECT_EQ(kept[kept.size() - 3], "takes: f32 = select(best, x[i], 1, 0)");
  EXPECT_EQ(kept[kept.size() - 2], "best = select(0, takes, x[i], best)");
  EXPECT_EQ(kept.back(), "arg = select(0, f32(takes), best * 2.0, f32(arg))");
}

TEST(Suggestions, a_band_as_wide_as_a_size_keeps_its_width) {
  const std::string head =
      "def f(N: size, B: size, x: f32[N], y: f32[N]):\n"
      "    for i in seq(0, N):\n";
  const std::vector<std::string> way =
      suggested(head + "        for j in seq(max(0, i - B), i + 1):\n            y[i] += x[j]\n");
  ASSERT_EQ(way.size(), 4u);
  EXPECT_EQ(way[0], "for w in seq(0, B + 1):");
  // What it says is accepted.
  EXPECT_NO_THROW(check(*parse(head + "        " + way[0] + "\n            " + way[1] +
                               "\n                y[i] += x[" + way[2] + "]\n")));
}

TEST(Suggestions, a_step_that_is_no_number_is_one) {
  const std::string message =
      said("def f(N: size, B: size, x: f32[N]):\n    for b in seq(0, N, B):\n        x[b] = 0.0\n");
  EXPECT_NE(message.find("with 16 for `B`, `for b in seq(0, (N + 15) / 16):`, and `16 * b`"),
            std::string::npos)
      << message;
}

TEST(Suggestions, integers_times_reals_by_a_real_are_a_mixture) {
  const std::string message = said(in_loop("y[i] = a[i] * x[i] / 127.0"));
  EXPECT_NE(message.find("mixed precisions"), std::string::npos) << message;
  EXPECT_NE(message.find("f32(a[i])"), std::string::npos) << message;
}

}  // namespace
}  // namespace exotune
