// As suggestions_test.cc, of arrays and of the names they have.
#include "suggestions.h"

namespace exotune {
namespace {

TEST(Suggestions, of_sums_over_rows_are_accepted) {
  for (const char* row : {"sum(m[i, :])", "max(m[i, 0:M])", "fmin(x)", "prod(m[:, 0])"}) {
    const std::vector<std::string> words = suggested(in_loop("y[i] = " + std::string(row)));
    ASSERT_EQ(words.size(), 2u) << row;
    EXPECT_EQ(said(in_loop("s: f32 = 0.0\n        " + words[0] + "\n            " + words[1] +
                           "\n        y[i] = s")),
              "accepted")
        << row;
  }
}

TEST(Suggestions, of_elements_out_of_bounds_are_accepted) {
  const auto with = [](const std::string& lines) {
    return "def f(N: size, M: size, x: f32[N], y: f32[2, N]):\n" + lines + "\n";
  };
  const std::pair<const char*, const char*> elements[] = {
      {"x[-1]", "x[N - 1]"}, {"y[-2, -1]", "y[0, N - 1]"}, {"y[0, N]", "y[0, N - 1]"}};
  for (const auto& [element, instead] : elements)
    EXPECT_EQ(suggested(with("    " + std::string(element) + " = 1.0")).at(0), instead);
  const std::string at = "    x[M] = x[N - 5]", top = suggested(with(at)).at(0);
  EXPECT_EQ(top, "assert N >= 5 and M < N");
  EXPECT_EQ(said(with("    " + top + "\n" + at)), "accepted");
  // No condition helps.
  EXPECT_EQ(said(with("    x[N + 1] = 1.0")).find("hint"), std::string::npos);
}

TEST(Suggestions, of_stages_are_accepted) {
  const std::string stages = in_loop("for j in seq(0, M):\n            y[2 * M * i + j] = x[i]");
  const std::vector<std::string> words = suggested(stages);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0], "2 * M");
  EXPECT_EQ(words[2], "def f_$L(...)");
  EXPECT_EQ(said(words[1] +
                 "\n    @proc\n    def f_$L(G: size, x: f32[G], y: f32[2 * $L * G]):\n"
                 "        for g in seq(0, G):\n            for j in seq(0, $L):\n"
                 "                y[2 * " +
                 words[3] + " * g + j] = x[g]\n"),
            "accepted");
}

TEST(Suggestions, of_quotients_by_sizes_are_accepted) {
  const std::vector<std::string> words =
      suggested("def f(B: size, N: size, x: f32[N], y: f32[N / B]):\n    pass\n");
  ASSERT_EQ(words.size(), 6u);
  EXPECT_EQ(words[5], "x[i, j]");
  EXPECT_EQ(said("def f(B: size, " + words[1] + ", " + words[3] +
                 ", y: f32[Q]):\n    for i in seq(0, Q):\n        for j in seq(0, B):\n"
                 "            y[i] += " +
                 words[5] + "\n"),
            "accepted");
}

TEST(Suggestions, of_copies_of_arrays_are_accepted) {
  std::vector<std::string> words = suggested(in_loop("x = y"));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1])), "accepted");
  words = suggested(in_loop("m = 0.0"));
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1] + "\n                " + words[2])),
            "accepted");
  EXPECT_EQ(suggested(in_loop("x += y")).at(1), "x[i1] += y[i1]");
}

TEST(Suggestions, of_parts_of_arrays_are_accepted) {
  std::vector<std::string> words = suggested(in_loop("m[i, :] = 0"));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1])), "accepted");
  words = suggested(in_loop("x[0:i] += 1.0"));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], "for k in seq(0, i):");
  EXPECT_EQ(said(in_loop(words[0] + "\n            " + words[1])), "accepted");
}

// What a branch declares ends with it.
TEST(Suggestions, of_names_that_branches_declare_stand_in_front) {
  std::vector<std::string> words = suggested(in_loop("v: f32 = x[i - 1] if i > 0 else 0.0"));
  ASSERT_EQ(words.size(), 5u);
  const std::string chosen = words[0] + "\n        " + words[1] + "\n            " + words[2] +
                             "\n        " + words[3] + "\n            " + words[4];
  EXPECT_EQ(said(in_loop(chosen + "\n        y[i] = v")), "accepted");
  const std::string inside = "if i > 0:\n            v: f32 = x[i - 1]\n        ";
  for (const char* use : {"y[i] = v", "v = y[i]"}) {
    words = suggested(in_loop(inside + use));
    ASSERT_GE(words.size(), 2u);
    EXPECT_EQ(words[1], "v: f32") << words[0];
  }
}

TEST(Suggestions, of_types_of_arguments_are_accepted) {
  const auto with = [](const std::string& arguments) {
    return "def f(" + arguments + "):\n    for i in seq(0, N):\n        x[i] = 1.0\n";
  };
  const std::string size = suggested(with("N, x: f32[N]")).at(0);
  EXPECT_EQ(size, "N: size");
  EXPECT_EQ(said(with(size + ", x: f32[N]")), "accepted");
  EXPECT_EQ(suggested(with("n: size, N: size, x")).at(1), "x: f32[n]");
}

TEST(Suggestions, of_arrays_of_conditions_are_accepted) {
  const auto with = [](const std::string& type, const std::string& body) {
    return "def f(N: size, m: " + type + ", x: f32[N], y: f32[N]):\n    for i in seq(0, N):\n" +
           "        " + body + "\n";
  };
  const std::vector<std::string> words = suggested(with("bool[N]", "y[i] = x[i]"));
  ASSERT_EQ(words.size(), 5u);
  EXPECT_EQ(words[0], "ui8[N]");
  EXPECT_EQ(words[1], "select(0, f32(m), c, d)");
  EXPECT_EQ(said(with(words[0], "y[i] = select(0, f32(m[i]), x[i], y[i])")), "accepted");
  EXPECT_EQ(suggested(with("index[N]", "y[i] = x[i]")).at(0), "i32[N]");
}

TEST(Suggestions, of_allocations_are_accepted) {
  const std::pair<const char*, const char*> values[] = {{"v = x[i] * 2.0", "v: f32 = x[i] * 2.0"},
                                                        {"v = a[i]", "v: i32 = a[i]"},
                                                        {"v = 0.5", "v: f32 = 0.5"},
                                                        {"v += d[i]", "v: f64 = 0.0"},
                                                        {"v += b[i]", "v: i8 = 0"},
                                                        {"v max= x[i]", "v: f32"}};
  for (const auto& [line, allocation] : values) {
    EXPECT_EQ(suggested(in_loop(line)).at(0), allocation);
    const bool assigns = std::string(line).find(" = ") != std::string::npos;
    EXPECT_EQ(said(in_loop(allocation +
                           (assigns ? "" : "\n        v = 1\n        " + std::string(line)))),
              "accepted")
        << line;
  }
  EXPECT_EQ(suggested(in_loop("half = N / 2")).at(0), "(N / 2)");
  EXPECT_EQ(suggested(in_loop("v[i] = x[i]")).at(0), "v: f32[4]");
}

TEST(Suggestions, of_running_extremes_are_accepted) {
  const std::pair<const char*, const char*> values[] = {
      {"a[0] = max(a[0], h[i] + 1)", "a[0] max= h[i] + 1"},
      {"y[i] = min(x[i], y[i])", "y[i] min= x[i]"}};
  for (const auto& [line, reduction] : values) {
    EXPECT_EQ(suggested(in_loop(line)).at(0), reduction);
    EXPECT_EQ(said(in_loop(reduction)), "accepted");
  }
}

TEST(Suggestions, of_values_of_arrays_are_accepted) {
  std::vector<std::string> words = suggested(in_loop("v: f32[3] = x[i] + 0.25"));
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[2], "v[k] = x[i] + 0.25");
  EXPECT_EQ(said(in_loop(words[0] + "\n        " + words[1] + "\n            " + words[2])),
            "accepted");
  words = suggested(in_loop("v: f32[M, 3] = 0.5"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(said(in_loop(words[0] + "\n        " + words[1] + "\n            " + words[2] +
                         "\n                " + words[3])),
            "accepted");
  words = suggested(in_loop("v: f32[3] = [0.5, x[i], -1.0]"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(said(in_loop(words[0] + "\n        " + words[1] + "\n        " + words[2] +
                         "\n        " + words[3])),
            "accepted");
}

TEST(Suggestions, of_lists_for_a_name_are_accepted) {
  const std::vector<std::string> words = suggested(in_loop("w = [0.5, x[i], -1.0]"));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0], "w: f32[3]");
  EXPECT_EQ(said(in_loop(words[0] + "\n        " + words[1] + "\n        " + words[2] +
                         "\n        " + words[3])),
            "accepted");
}

TEST(Suggestions, of_rows_as_arguments_are_accepted) {
  const std::string row =
      "@proc\ndef row(N: size, v: [f32][N]):\n    for j in seq(0, N):\n        v[j] = 0.0\n\n";
  const std::string message = said(row + in_loop("row(M, m[i])"));
  EXPECT_NE(message.find("hint: write `m[i, :]`"), std::string::npos) << message;
  EXPECT_EQ(said(row + in_loop("row(M, m[i, :])")), "accepted");
}

TEST(Suggestions, say_what_records_and_complex_numbers_are) {
  const std::string record = said(in_loop("y[i] = x[i].re"));
  EXPECT_NE(record.find("their fields its elements: `x[i, 0]`"), std::string::npos) << record;
  const std::string complex = said(in_loop("z: c64[4]"));
  EXPECT_NE(complex.find("a last dimension of 2, `x: f32[4, 2]`"), std::string::npos) << complex;
}

TEST(Suggestions, of_windows_are_accepted) {
  const std::vector<std::string> words = suggested(in_loop("t: f32[M] = m[i, 0:M]"));
  EXPECT_EQ(said(in_loop(words.back() + "\n        y[i] = t[0]")), "accepted");
}

}  // namespace
}  // namespace exotune
