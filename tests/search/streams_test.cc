// Long passes as several streams: which loops they are for, and that they compute the same.
#include "search/moves/streams.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// Caches so small that a page of 64 bytes and 1000 elements show all.
constexpr NearestCaches kSmall = {128, 256, 1024, 16};
constexpr int64_t kPage = 64;

const char* const kScaled = R"(
@proc
def scaled(x: f32[1000], y: f32[1000]):
    for i in seq(0, 1000):
        y[i] = 2.0 * x[i] + y[i]
)";
const char* const kSummed = R"(
@proc
def summed(x: f32[1000], y: f32[1000], r: f32):
    for i in seq(0, 1000):
        r += x[i] * y[i]
)";

TEST(Streams, are_parts_far_apart_and_what_is_left_over) {
  const ProcPtr p = parsed(kScaled);
  const std::vector<Schedule> found = in_streams({p, {}, false}, {}, kSmall, kPage);
  ASSERT_EQ(found.size(), 2u);  // eight parts would be shorter than what is left over
  // A quarter of a page and a line behind one another: 16 * k + 8 elements.
  const std::string text = str(*found[0].proc);
  EXPECT_NE(text.find("for is in seq(0, 4):\n        for i in seq(0, 248):"), std::string::npos)
      << text;
  EXPECT_NE(text.find("for i in seq(0, 8):"), std::string::npos) << text;
  for (const Schedule& s : found) {
    EXPECT_FALSE(reassociates(s.proc));
    expect_same_result(p, s.proc, str(*s.proc));
  }
}

TEST(Streams, of_a_sum_have_a_sum_each) {
  const ProcPtr p = parsed(kSummed);
  const std::vector<Schedule> found = in_streams({p, {}, false}, {}, kSmall, kPage);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(str(*found[0].proc).find("i_sums[is] += "), std::string::npos) << str(*found[0].proc);
  EXPECT_TRUE(reassociates(found[0].proc));
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

const char* const kTurned = R"(
@proc
def turned(x: f32[1000], y: f32[1000], c: f32):
    for i in seq(0, 1000):
        t: f32
        t = c * x[i] + y[i]
        y[i] = c * y[i] - x[i]
        x[i] = t
)";

TEST(Streams, numbers_of_one_iteration_are_no_sums) {
  const ProcPtr p = parsed(kTurned);
  const std::vector<Schedule> found = in_streams({p, {}, false}, {}, kSmall, kPage);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].steps.size(), 1u);
  for (const Schedule& s : found) expect_same_result(p, s.proc, str(*s.proc));
}

const char* const kRows = R"(
@proc
def rows(A: f32[300, 12], x: f32[12], y: f32[300]):
    for i in seq(0, 300):
        y[i] = 0.0
        for j in seq(0, 12):
            y[i] += A[i, j] * x[j]
)";

TEST(Streams, take_short_rows_in_turn) {
  const ProcPtr p = parsed(kRows);
  const std::vector<Schedule> found = in_streams({p, {}, false}, {}, kSmall, kPage);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(str(*found[0].proc).find("for is in seq(0, 4):\n            y["), std::string::npos)
      << str(*found[0].proc);
  for (const Schedule& s : found) expect_same_result(p, s.proc, str(*s.proc));
}

TEST(Streams, are_for_long_passes_of_elements_side_by_side_alone) {
  const auto none = [](const char* text, const NearestCaches& caches = kSmall) {
    return in_streams({parsed(text), {}, false}, {}, caches, kPage).empty();
  };
  EXPECT_TRUE(none(kScaled, {128, 256, 1 << 20, 16})) << "a cache holds it";
  EXPECT_TRUE(none(kScaled, {})) << "there are no caches";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[5000]):\n    for i in seq(0, 500):\n"
           "        x[9 * i] = 1.0\n"))
      << "a line for each element";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[501]):\n    for i in seq(0, 500):\n"
           "        x[i + 1] = x[i] + 1.0\n"))
      << "a recurrence";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[40, 40], y: f32[40, 40]):\n    for i in seq(0, 40):\n"
           "        for j in seq(0, 40):\n            y[i, j] = x[i, j]\n"))
      << "rows of more than a page are streams already";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[300, 12], y: f32[12]):\n    for i in seq(0, 300):\n"
           "        for j in seq(0, 12):\n            y[j] += x[i, j]\n"))
      << "rows that are added up";
}

}  // namespace
}  // namespace exotune
