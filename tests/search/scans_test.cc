// Running sums, maxima and minima: which loops become vectors, and that they mean the same.
#include "search/moves/scans.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "hw/target.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::optional<Schedule> by_vectors(const ProcPtr& p) {
  static const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  static const ValueList instructions = instruction_values(*target);
  return scans_in_vectors({p, {}, false}, instructions);
}

void expect_scan(const std::string& body, const std::string& call, bool sums) {
  const ProcPtr p = parsed(
      "@proc\ndef running(x: f32[21], y: f32[22], a: f32):\n"
      "    for i in seq(0, 21):\n" +
      body);
  const std::optional<Schedule> made = by_vectors(p);
  ASSERT_TRUE(made) << body;
  const std::string text = str(*made->proc);
  EXPECT_NE(text.find("mm256_" + call + "("), std::string::npos) << text;
  EXPECT_EQ(reassociates(made->proc), sums) << text;
  expect_same_result(p, made->proc, text);
}

TEST(Scans, sums_and_extremes_of_all_before) {
  expect_scan("        a += x[i]\n        y[i] = a\n", "scan_add_ps", true);
  expect_scan("        a max= x[i]\n        y[i] = a\n", "scan_max_ps", false);
  expect_scan("        a min= x[i]\n        y[i + 1] = a\n", "scan_min_ps", false);
}

TEST(Scans, the_element_itself_left_out) {
  expect_scan("        y[i] = a\n        a += x[i]\n", "scan_before_add_ps", true);
}

TEST(Scans, in_one_array) {
  expect_scan("        a += x[i]\n        x[i] = a\n", "scan_add_own_ps", true);
}

TEST(Scans, carried_by_the_array) {
  expect_scan("        y[i + 1] = y[i] + x[i]\n", "scan_next_add_ps", true);
  expect_scan("        y[i + 1] = fmax(y[i], x[i])\n", "scan_next_max_ps", false);
}

TEST(Scans, from_the_last_to_the_first) {
  expect_scan("        a += x[20 - i]\n        y[20 - i] = a\n", "scan_back_add_ps", true);
  expect_scan("        y[20 - i] = fmin(y[21 - i], x[20 - i])\n", "scan_back_next_min_ps", false);
  expect_scan("        y[20 - i] = x[20 - i] + 0.5 * y[21 - i]\n", "decay_back_next_ps", true);
  expect_scan("        a = 0.5 * a + x[20 - i]\n        y[20 - i] = a\n", "decay_back_ps", true);
}

TEST(Scans, of_doubles_inside_other_loops) {
  const ProcPtr p = parsed(R"(
@proc
def rows(x: f64[3, 70], y: f64[3, 71]):
    for i in seq(0, 3):
        for j in seq(0, 70):
            y[i, j + 1] = x[i, j] + y[i, j]
)");
  const std::optional<Schedule> made = by_vectors(p);
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_NE(text.find("mm256_scan_far_add_pd("), std::string::npos) << text;
  expect_same_result(p, made->proc, text);
}

TEST(Scans, that_shrink_with_each_element) {
  expect_scan("        a = 0.5 * a + x[i]\n        y[i] = a\n", "decay_ps", true);
  expect_scan("        a = x[i] + a * y[21]\n        x[i] = a\n", "decay_own_ps", true);
  expect_scan("        y[i + 1] = x[i] + (a - 1.0) * y[i]\n", "decay_next_ps", true);
  expect_scan("        a += 0.25 * (x[i] - a)\n        y[i] = a\n", "approach_ps", true);
  expect_scan("        y[i + 1] = y[i] + a * (x[i] - y[i])\n", "approach_next_ps", true);
}

TEST(Scans, of_second_order) {
  const auto expect = [](const std::string& value, const std::string& call) {
    const ProcPtr p = parsed(
        "@proc\ndef filtered(x: f64[70], y: f64[72], a: f64, b: f64):\n"
        "    for i in seq(0, 70):\n        y[i + 2] = " +
        value + "\n");
    const std::optional<Schedule> made = by_vectors(p);
    ASSERT_TRUE(made) << value;
    const std::string text = str(*made->proc);
    EXPECT_NE(text.find("mm256_second_" + call + "_pd("), std::string::npos) << text;
    EXPECT_TRUE(reassociates(made->proc));
    expect_same_result(p, made->proc, text);
  };
  expect("x[i] + a * y[i + 1] + b * y[i]", "plus");
  expect("a * y[i + 1] + 0.5 * y[i] + x[i]", "behind");
  expect("x[i] - 0.5 * y[i + 1] - 0.25 * y[i]", "minus");
  expect("0.5 * y[i + 1] - 0.25 * y[i] + x[i]", "resonator");
}

TEST(Scans, nothing_that_only_looks_like_one) {
  for (const char* const body : {
           "        a += x[i]\n",                                 // a sum
           "        a = x[i]\n        y[i] = a\n",                // no chain
           "        a += x[20 - i]\n        y[i] = a\n",          // backwards
           "        y[i] = y[i + 1] + x[i]\n",                    // of what comes later
           "        a += x[i]\n        y[0] = a\n",               // into one place
           "        a += x[i] * x[i]\n        y[i] = a\n",        // of something computed
           "        a = x[i] * a + x[i]\n        y[i] = a\n",     // a factor for each
           "        a = 0.5 * a * a + x[i]\n        y[i] = a\n",  // no factor at all
       })
    EXPECT_FALSE(
        by_vectors(parsed("@proc\ndef other(x: f32[21], y: f32[22], a: f32):\n"
                          "    for i in seq(0, 21):\n" +
                          std::string(body))))
        << body;
}

}  // namespace
}  // namespace exotune
