// Recurrences with work beside their chain of values: what becomes loops of its own, and what must
// not.
#include "search/moves/chains.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/moves/distribution.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// Strips of 64 iterations.
constexpr NearestCaches kSmallCache = {2048, 0, 0, 64};
constexpr NearestCaches kLargeCache = {1 << 20, 0, 0, 64};

int times(const std::string& text, const std::string& what) {
  int out = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

constexpr char kFiltered[] = R"(
@proc
def filtered(x: f32[150], w: f32[150], y: f32[150]):
    a: f32
    a = 0.0
    for i in seq(0, 150):
        a = 0.5 * a + sqrt(x[i] * x[i])
        y[i] = (x[i] - a) * w[i]
)";

TEST(Chains, work_ahead_and_behind_becomes_loops_of_its_own) {
  const ProcPtr p = parsed(kFiltered);
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kLargeCache);
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_EQ(times(text, "for i in seq(0, 150):"), 3) << text;
  EXPECT_NE(text.find("a = 0.5 * a + a_in[i]"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i] = (x[i] - a_then[i]) * w[i]"), std::string::npos) << text;
  EXPECT_FALSE(apart->reassociated);
  expect_same_result(p, apart->proc, text);
}

TEST(Chains, long_loops_come_apart_in_strips_and_so_does_their_rest) {
  const ProcPtr p = parsed(kFiltered);
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kSmallCache);
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_EQ(times(text, "for i in seq(0, 64):"), 3) << text;
  EXPECT_EQ(times(text, "for i in seq(0, 22):"), 3) << text;
  expect_same_result(p, apart->proc, text);
}

// Sums along the rows are rows of their own then, sums down the columns are vectors.
TEST(Chains, sums_along_rows_part_from_sums_down_columns) {
  const ProcPtr p = parsed(R"(
@proc
def integral(x: f32[6, 7], s: f32[7, 8]):
    for i in seq(0, 6):
        row: f32
        row = 0.0
        for j in seq(0, 7):
            row += x[i, j]
            s[i + 1, j + 1] = s[i, j + 1] + row
)");
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kLargeCache);
  ASSERT_TRUE(apart);
  const Schedule distributed = distribute(*apart, true);
  const std::string text = str(*distributed.proc);
  EXPECT_EQ(times(text, "for i in seq(0, 6):"), 3) << text;
  expect_same_result(p, distributed.proc, text);
}

// An array that only the chain reads of the iteration before is no chain itself: the profile of a
// Viterbi search, whose matches come ahead of its deletions; and what of that is read one behind,
// in a loop of its own.
TEST(Chains, what_a_chain_reads_one_behind_comes_ahead_of_it) {
  const ProcPtr p = parsed(R"(
@proc
def deletions(x: f32[12], w: f32[12], mat: f32[13], dele: f32[13], best: f32):
    for k in seq(0, 12):
        mat[k + 1] = x[k] * w[k] + 1.0
        dele[k + 1] = fmax(mat[k] + w[k], dele[k] + x[k])
        best max= mat[k + 1]
)");
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kLargeCache, 1);
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_EQ(times(text, "for k in seq(0, 12):"), 4) << text;
  EXPECT_NE(text.find("dele[k + 1] = fmax(dele_in[k], dele[k] + x[k])"), std::string::npos) << text;
  expect_same_result(p, apart->proc, text);
}

TEST(Chains, loops_may_begin_anywhere) {
  const ProcPtr p = parsed(R"(
@proc
def smoothed(x: f32[150], y: f32[150]):
    for i in seq(1, 150):
        y[i] = 0.5 * y[i - 1] + sqrt(x[i] * x[i])
)");
  for (const NearestCaches& caches : {kSmallCache, kLargeCache}) {
    const std::optional<Schedule> apart = chains_apart({p, {}, false}, caches);
    ASSERT_TRUE(apart);
    EXPECT_NE(str(*apart->proc).find("y_in"), std::string::npos) << str(*apart->proc);
    expect_same_result(p, apart->proc, str(*apart->proc));
  }
}

// Values that one statement makes for the chain and for what is behind it.
TEST(Chains, names_that_both_sides_use_become_arrays) {
  const ProcPtr p = parsed(R"(
@proc
def shared(x: f32[9], y: f32[9], a: f32):
    for i in seq(0, 9):
        t: f32
        t = x[i] * x[i] + 1.0
        u: f32
        u = a / t
        a = u + t
        y[i] = t * a
)");
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kLargeCache);
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_EQ(times(text, "for i in seq(0, 9):"), 3) << text;
  EXPECT_NE(text.find("t : f32[9]"), std::string::npos) << text;
  EXPECT_EQ(text.find("u : f32[9]"), std::string::npos) << text;
  expect_same_result(p, apart->proc, text);
}

// What is seen of a row: heights above all before them.
TEST(Chains, what_reads_a_value_before_it_changes_stands_behind) {
  const ProcPtr p = parsed(R"(
@proc
def seen(x: f32[150], y: f32[150], top: f32[1]):
    m: f32
    m = -1.0
    for i in seq(0, 150):
        slope: f32
        slope = x[i] / 3.0
        y[i] = select(slope, m, 0.0, 1.0)
        m max= slope
    top[0] = m
)");
  const std::optional<Schedule> apart = chains_apart({p, {}, false}, kLargeCache, 1);
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_EQ(times(text, "for i in seq(0, 150):"), 3) << text;
  EXPECT_NE(text.find("m_before[i] = m\n        m max= slope[i]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i] = select(slope[i], m_before[i], 0.0, 1.0)"), std::string::npos) << text;
  expect_same_result(p, apart->proc, text);
}

TEST(Chains, stay_where_there_is_nothing_beside_them) {
  EXPECT_FALSE(chains_apart({parsed(R"(
@proc
def running(x: f32[9], y: f32[9], a: f32):
    for i in seq(0, 9):
        a += x[i]
        y[i] = a
)"),
                             {},
                             false},
                            kLargeCache));
  EXPECT_FALSE(chains_apart({parsed(kTransposed), {}, false}, kLargeCache));
}

// y[i] is read by the next iteration's chain: what writes it is none that only reads the chain.
TEST(Chains, what_later_iterations_need_is_part_of_them) {
  const ProcPtr p = parsed(R"(
@proc
def fed_back(x: f32[9], y: f32[10], a: f32):
    for i in seq(0, 9):
        a = a + y[i]
        y[i + 1] = a * x[i] + 1.0
)");
  EXPECT_FALSE(chains_apart({p, {}, false}, kLargeCache));
}

}  // namespace
}  // namespace exotune
