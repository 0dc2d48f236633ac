// Filters along a row: windows of whole vectors, taps that are left over.
#include "search/moves/filters.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "hw/target.h"
#include "search/moves/finishes.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// Strips of 64 results.
constexpr NearestCaches kCaches = {2048, 0, 0, 64};

ProcPtr filter(int results, int taps) {
  const std::string n = std::to_string(results), k = std::to_string(taps);
  return parsed("@proc\ndef filter(x: f32[" + std::to_string(results + taps - 1) + "], h: f32[" +
                k + "], y: f32[" + n + "]):\n    for i in seq(0, " + n +
                "):\n        y[i] = 0.0\n        for k in seq(0, " + k +
                "):\n            y[i] += x[i + k] * h[k]\n");
}

// What the finishes called "windows of a row" make of a nest, in AVX2: vectors of 8.
std::vector<Schedule> windows_of(const ProcPtr& p) {
  static const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const ValueList instructions = instruction_values(*target);
  std::vector<Schedule> out;
  for (const Finish& f : finishes_of(outline_of(*p), *target, target->levels, instructions)) {
    if (f.name.find("windows of a row") != 0) continue;
    out.push_back({p, {}, false});
    for (const ScheduleStep& step : f.steps) {
      const auto refusal = apply(out.back(), step);
      EXPECT_FALSE(refusal) << refusal->text();
    }
  }
  return out;
}

TEST(Filters, become_tiles_whose_windows_share_what_they_read) {
  for (const auto& [results, taps] : {std::pair(80, 16), {83, 24}, {64, 20}}) {
    const ProcPtr p = filter(results, taps);
    const std::vector<Schedule> made = windows_of(p);
    ASSERT_EQ(made.size(), 1u) << taps;
    const std::string text = str(*made.front().proc);
    EXPECT_NE(text.find("mm256_fmadd_ps("), std::string::npos) << text;
    expect_same_result(p, made.front().proc, text);
  }
}

TEST(Filters, may_go_against_their_taps) {
  const ProcPtr p = parsed(R"(
@proc
def convolved(x: f32[95], h: f32[16], y: f32[80]):
    for i in seq(0, 80):
        y[i] = 0.0
        for k in seq(0, 16):
            y[i] += h[k] * x[i - k + 15]
)");
  const std::vector<Schedule> made = windows_of(p);
  ASSERT_EQ(made.size(), 1u);
  expect_same_result(p, made.front().proc, str(*made.front().proc));
}

TEST(Filters, of_many_taps_come_in_parts) {
  const ProcPtr p = filter(40, 96);
  const std::vector<Schedule> made = windows_of(p);
  ASSERT_EQ(made.size(), 1u);
  const std::string text = str(*made.front().proc);
  EXPECT_NE(text.find("for ko in seq(0, 3):"), std::string::npos) << text;
  expect_same_result(p, made.front().proc, text);
}

TEST(Filters, of_few_taps_have_no_windows_of_vectors) {
  EXPECT_TRUE(windows_of(filter(80, 8)).empty());
  EXPECT_TRUE(windows_of(filter(80, 17)).empty());
}

TEST(Filters, leave_taps_beside_whole_vectors_to_a_nest_of_their_own) {
  const ProcPtr p = filter(40, 19);
  const std::optional<Schedule> made = whole_vectors_of_taps({p, {}, false}, {}, kCaches, 8);
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_NE(text.find("for k in seq(0, 16):"), std::string::npos) << text;
  expect_same_result(p, made->proc, text);
  const ProcPtr p2 = filter(10, 75);
  const std::optional<Schedule> parts = whole_vectors_of_taps({p2, {}, false}, {}, kCaches, 8);
  ASSERT_TRUE(parts);
  EXPECT_NE(str(*parts->proc).find("for k in seq(0, 64):"), std::string::npos);
  expect_same_result(p2, parts->proc, str(*parts->proc));
  const ProcPtr p3 = filter(150, 19);
  const std::optional<Schedule> strips = whole_vectors_of_taps({p3, {}, false}, {}, kCaches, 8);
  ASSERT_TRUE(strips);
  EXPECT_NE(str(*strips->proc).find("for io in seq(0, 2):"), std::string::npos);
  expect_same_result(p3, strips->proc, str(*strips->proc));
  EXPECT_FALSE(whole_vectors_of_taps({filter(40, 20), {}, false}, {}, kCaches, 8));  // halves
  EXPECT_FALSE(whole_vectors_of_taps({filter(40, 11), {}, false}, {}, kCaches, 8));  // too few
  EXPECT_FALSE(whole_vectors_of_taps({parsed(kTransposed), {}, false}, {}, kCaches, 8));
}

}  // namespace
}  // namespace exotune
