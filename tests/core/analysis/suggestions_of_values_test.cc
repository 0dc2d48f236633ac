// Hints that are put where their message points: what they are a part of means the same.
#include "suggestions.h"

namespace exotune {
namespace {

TEST(Suggestions, of_parts_keep_to_themselves_what_is_around_them) {
  // In brackets behind a quotient, and without where it is all of a value.
  EXPECT_EQ(suggested(in_loop("y[i] = x[i] / f32(N * M)"))[0], "(f32(N) * f32(M))");
  EXPECT_EQ(suggested(in_loop("y[i] = f32(N * M)"))[0], "f32(N) * f32(M)");
  EXPECT_EQ(suggested(in_loop("y[i] = x[i] / f64(2 * N * M + 1)"))[0], "(f64(2 * N) * f64(M) + 1)");
  EXPECT_EQ(suggested(in_loop("y[i] = 1.0 - x[i] / (N * M)"))[0], "(f32(N) * f32(M))");
  EXPECT_EQ(suggested(in_loop("y[i] = 100 / x[i] ** 2"))[0], "100 / (x[i] * x[i])");
  EXPECT_EQ(suggested(in_loop("y[i] = x[i] - (x[i] - 1.0) ** 2"))[0],
            "x[i] - (x[i] - 1.0) * (x[i] - 1.0)");
  EXPECT_EQ(suggested(in_loop("y[i] = 2 / x[i] ** 0.5"))[0], "2 / pow(x[i], 0.5)");
  EXPECT_EQ(suggested(in_loop("a[i] = 7 - a[i] % 5"))[0], "(a[i] - 5 * (a[i] / 5))");
  EXPECT_EQ(suggested(in_loop("a[i] = a[i] % 5"))[0], "a[i] - 5 * (a[i] / 5)");
}

TEST(Suggestions, of_parts_are_accepted_in_their_place) {
  for (const char* line : {"y[i] = x[i] / (f32(N) * f32(M))", "y[i] = 100 / (x[i] * x[i])",
                           "a[i] = 7 - (a[i] - 5 * (a[i] / 5))", "y[i] = 2 / pow(x[i], 0.5)"})
    EXPECT_EQ(said(in_loop(line)), "accepted") << line;
}

TEST(Suggestions, of_all_bits_turned_round_are_accepted) {
  for (const auto& [refused, right] :
       {std::pair("u[i] = u[i] ^ 255", "255 - u[i]"), std::pair("b[i] = b[i] ^ -1", "-1 - b[i]")}) {
    const std::string text = suggested(in_loop(refused))[0];
    EXPECT_EQ(text, right);
    EXPECT_EQ(said(in_loop(std::string(refused).substr(0, 7) + text)), "accepted");
  }
  EXPECT_NE(said(in_loop("u[i] = ~u[i]")).find("`255 - x` in ui8"), std::string::npos);
}

TEST(Suggestions, of_sizes_as_data_take_the_type_that_they_meet) {
  EXPECT_EQ(suggested(in_loop("u[i] = (a[i] + N / 2) / 4"))[0], "i32(N / 2)");
  EXPECT_EQ(suggested(in_loop("d[i] = x[i] * N"))[0], "f32(N)");
  // A real number that is made of integers is no quotient of integers.
  EXPECT_EQ(suggested(in_loop("y[i] = a[i] / N"))[0], "f32(N)");
}

// Each step that the hint names, on a line of its own, where the `if` stood.
TEST(Suggestions, of_sides_that_write_several_places_are_accepted) {
  const std::string branches[] = {
      // Neighbours in order.
      "if x[i] > y[i]:\n            t: f32 = x[i]\n            x[i] = y[i]\n            y[i] = t",
      // Each side another place.
      "if x[i] < 1.0:\n            x[i] = 0.0\n        else:\n            y[i] = 2.0",
      // Three sides; one adds.
      "if x[i] < 0.1:\n            y[i] = 0.0\n        elif x[i] < 0.5:\n            y[i] = 1.0\n"
      "            x[i] = 0.0\n        else:\n            y[i] += x[i]",
      // A mask of bytes decides about floats.
      "if u[i] == 1:\n            y[i] += x[i]\n            x[i] = y[i]"};
  for (const std::string& branch : branches) {
    const std::vector<std::string> words = suggested(in_loop(branch));
    std::string lines;
    for (size_t k = 3; k < words.size(); ++k)  // behind what `select` is
      lines += (lines.empty() ? "" : "\n        ") + words[k];
    EXPECT_EQ(said(in_loop(lines)), "accepted") << lines;
  }
}

TEST(Suggestions, of_iterations_that_end_early_are_accepted) {
  const std::vector<std::string> words =
      suggested(in_loop("if x[i] < 0.0:\n            continue\n        y[i] = 1.0"));
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(words[0], "goes: f32 = select(x[i], 0.0, 0, 1)");
  EXPECT_EQ(said(in_loop(words[0] + "\n        y[i] = select(0, goes, 1.0, y[i])")), "accepted");
}

TEST(Suggestions, of_elements_that_a_real_number_chooses_are_accepted) {
  const std::vector<std::string> words = suggested(in_loop("y[int(x[i])] += 1.0"));
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(said(in_loop("for b1 in seq(0, N):\n            y[b1] += " + words[1])), "accepted")
      << words[1];
}

}  // namespace
}  // namespace exotune
