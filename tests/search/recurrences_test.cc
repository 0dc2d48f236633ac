// Loops that need their own earlier iterations: in blocks, in lanes, by columns, one behind the
// other.
#include "search/moves/recurrences.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/printer.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr const char* kCholesky = R"(
@proc
def cholesky(A: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i):
            for k in seq(0, j):
                A[i, j] += -(A[i, k] * A[j, k])
            A[i, j] = A[i, j] / A[j, j]
        for k in seq(0, i):
            A[i, i] += -(A[i, k] * A[i, k])
        A[i, i] = 2.0 * A[i, i]
)";

TEST(Recurrences, are_blocked_and_hold_a_product_that_fits_register_tiles) {
  const ProcPtr p = parsed(kCholesky);
  const std::vector<Schedule> made = blocks_of_recurrences({p, {}, false}, 4);
  ASSERT_FALSE(made.empty());
  for (const Schedule& s : made) {
    EXPECT_TRUE(std::any_of(s.steps.begin(), s.steps.end(),
                            [](const ScheduleStep& step) { return step.op == "stage_panel"; }));
    EXPECT_NE(str(*s.proc).find("A_panel[j + 4 * jb, i] += -(A_panel[k, i] * A[j + 4 * jb, k])"),
              std::string::npos)
        << str(*s.proc);
  }
  // The diagonal's sums are part of the block's corner, whose operands are the panel both.
  EXPECT_NE(str(*made.front().proc).find("A_panel[k, i] * A_panel[k, j - "), std::string::npos)
      << str(*made.front().proc);
  // Blocks of two inner ones are taken in those, too.
  const auto blockings = [](const Schedule& s) {
    return std::count_if(s.steps.begin(), s.steps.end(), [](const ScheduleStep& step) {
      return step.op == "block_recurrence" && *step.args.back().as<int64_t>() == 8;
    });
  };
  std::string text = kCholesky;
  for (size_t at = text.find("24"); at != std::string::npos; at = text.find("24", at))
    text.replace(at, 2, "64");
  const std::vector<Schedule> twice = blocks_of_recurrences({parsed(text), {}, false}, 8);
  ASSERT_FALSE(twice.empty());
  EXPECT_EQ(*twice.front().steps.front().args.back().as<int64_t>(), 32);
  EXPECT_GE(blockings(twice.front()), 3);
  EXPECT_TRUE(blocks_of_recurrences({parsed(kSteps), {}, false}, 4).empty());
  // Too short for two blocks of two vectors: single ones; and for two of those: nothing.
  const auto rows_of_first = [](const Schedule& s) {
    return *s.steps.front().args.back().as<int64_t>();
  };
  const std::vector<Schedule> of_vectors = blocks_of_recurrences({p, {}, false}, 8);
  ASSERT_EQ(of_vectors.size(), 1u);
  EXPECT_EQ(rows_of_first(of_vectors.front()), 8);
  EXPECT_GE(rows_of_first(made.front()), 8);
  EXPECT_TRUE(blocks_of_recurrences({p, {}, false}, 16).empty());
}

// The same steps, as often as the operator is in them.
int64_t times(const Schedule& s, const std::string& op) {
  return std::count_if(s.steps.begin(), s.steps.end(),
                       [&](const ScheduleStep& step) { return step.op == op; });
}

TEST(Recurrences, leave_corners_written_out_and_panels_in_registers) {
  const TargetPtr avx2 = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const VectorValues unit(*avx2, ScalarType::kF32, instruction_values(*avx2));
  const ProcPtr p = parsed(kCholesky);
  const std::vector<Schedule> made = blocks_of_recurrences({p, {}, false}, 8, &unit);
  ASSERT_FALSE(made.empty());
  for (const Schedule& s : made) {
    EXPECT_EQ(times(s, "unroll_nest"), 1) << str(*s.proc);
    EXPECT_EQ(times(s, "solve_in_registers"), 1) << str(*s.proc);
    expect_same_result(p, s.proc, str(*s.proc));
  }
}

TEST(Recurrences, of_small_systems_are_written_out_in_lanes) {
  const TargetPtr avx2 = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const VectorValues unit(*avx2, ScalarType::kF32, instruction_values(*avx2));
  const ProcPtr p = parsed(R"(
@proc
def many(A: f32[32, 4, 4]):
    for g in seq(0, 32):
        for k in seq(0, 4):
            for i in seq(k + 1, 4):
                A[g, i, k] = A[g, i, k] / A[g, k, k]
                for j in seq(k + 1, 4):
                    A[g, i, j] += -(A[g, i, k] * A[g, k, j])
)");
  const std::vector<Schedule> made = rows_in_lanes({p, {}, false}, 8, &unit);
  ASSERT_FALSE(made.empty());
  EXPECT_EQ(times(made.front(), "solve_in_registers"), 1) << str(*made.front().proc);
  expect_same_result(p, made.front().proc, str(*made.front().proc));
  EXPECT_EQ(rows_in_lanes({p, {}, false}, 8).size() + 1, made.size());
}

TEST(Recurrences, in_wide_blocks_take_long_sums_in_pieces) {
  const TargetPtr avx2 = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const VectorValues unit(*avx2, ScalarType::kF32, instruction_values(*avx2));
  std::string text = kCholesky;
  for (size_t at = text.find("24"); at != std::string::npos; at = text.find("24", at))
    text.replace(at, 2, "640");
  const std::optional<Schedule> made =
      wide_blocks_of_recurrences({parsed(text), {}, false}, 8, &unit);
  ASSERT_TRUE(made);
  const std::string result = str(*made->proc);
  // Of all columns before the panel's, a block's width of terms for all of the block.
  EXPECT_NE(
      result.find("for kb in seq(0, jb):\n                    for j in seq(0, 80):\n            "
                  "            for i in seq(0, 80):\n                            for k in seq(0, "
                  "80):"),
      std::string::npos)
      << result;
  // The wide panel's columns and those of the panels inside.
  EXPECT_GE(times(*made, "solve_in_registers"), 2) << result;
  EXPECT_EQ(times(*made, "unroll_nest"), 1) << result;
}

TEST(Recurrences, of_independent_rows_run_in_lanes) {
  const ProcPtr p = parsed(R"(
@proc
def sums(x: f32[16, 12]):
    for t in seq(0, 2):
        for i in seq(0, 16):
            for j in seq(1, 12):
                x[i, j] += x[i, j - 1]
)");
  const std::vector<Schedule> made = rows_in_lanes({p, {}, false}, 4);
  ASSERT_EQ(made.size(), 3u);  // 2, 1 and 4 vectors of rows; 3 do not divide them
  for (const Schedule& s : made) {
    EXPECT_NE(str(*s.proc).find("x_lanes[j, i] += x_lanes[j - 1, i]"), std::string::npos)
        << str(*s.proc);
    expect_same_result(p, s.proc, str(*s.proc));
  }
  EXPECT_TRUE(rows_in_lanes({p, {}, false}, 64).empty());  // far more lanes than rows
  EXPECT_TRUE(rows_in_lanes({parsed(kSteps), {}, false}, 4).empty());
}

// All of them in a vector that is masked, or a half one.
TEST(Recurrences, of_fewer_rows_than_lanes_run_in_as_many_as_there_are) {
  const ProcPtr p = parsed(R"(
@proc
def sums(x: f32[5, 12]):
    for i in seq(0, 5):
        for j in seq(1, 12):
            x[i, j] += x[i, j - 1]
)");
  const std::vector<Schedule> made = rows_in_lanes({p, {}, false}, 8);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_NE(str(*made[0].proc).find("for i in seq(0, 5):"), std::string::npos);
  EXPECT_NE(str(*made[0].proc).find("x_lanes[j, i] += x_lanes[j - 1, i]"), std::string::npos)
      << str(*made[0].proc);
  expect_same_result(p, made[0].proc, str(*made[0].proc));
}

TEST(Recurrences, run_in_three_vectors_of_rows_where_those_divide_them) {
  const ProcPtr p = parsed(R"(
@proc
def sums(x: f32[24, 6]):
    for i in seq(0, 24):
        for j in seq(1, 6):
            x[i, j] += x[i, j - 1]
)");
  const std::vector<Schedule> made = rows_in_lanes({p, {}, false}, 4);
  ASSERT_EQ(made.size(), 4u);
  EXPECT_NE(str(*made[1].proc).find("x_lanes : f32[6, 12]"), std::string::npos)
      << str(*made[1].proc);
  expect_same_result(p, made[1].proc, str(*made[1].proc));
}

TEST(Recurrences, of_rows_in_lanes_are_blocked) {
  const ProcPtr p = parsed(R"(
@proc
def solve(U: f32[20, 20], B: f32[8, 20]):
    for r in seq(0, 8):
        for j in seq(0, 20):
            for k in seq(0, j):
                B[r, j] += -(B[r, k] * U[k, j])
            B[r, j] = B[r, j] / U[j, j]
)");
  const std::vector<Schedule> rows = rows_in_lanes({p, {}, false}, 4);
  ASSERT_FALSE(rows.empty());
  const std::vector<Schedule> made = blocks_of_lanes(rows.front());
  ASSERT_EQ(made.size(), 1u);  // of 8 rows; 20 are less than two blocks of 16
  EXPECT_NE(
      str(*made[0].proc).find("B_lanes[j + 8 * jb, r] += -(B_lanes[k, r] * U[k, j + 8 * jb])"),
      std::string::npos)
      << str(*made[0].proc);
  // Chains of single elements have no bounds that follow them.
  EXPECT_TRUE(blocks_of_lanes({parsed(kSteps), {}, false}).empty());
}

TEST(Recurrences, go_by_columns_where_their_sums_go_down_one) {
  const ProcPtr p = parsed(R"(
@proc
def pairs(t: f32[12, 12]):
    for ii in seq(0, 12):
        for j in seq(12 - ii, 12):
            t[11 - ii, j] max= t[11 - ii, j - 1]
            for k in seq(12 - ii, j):
                t[11 - ii, j] max= t[11 - ii, k] + t[k + 1, j]
)");
  const std::optional<Schedule> columns = recurrences_by_columns({p, {}, false});
  ASSERT_TRUE(columns);
  const std::string text = str(*columns->proc);
  EXPECT_NE(text.find("t_column[k + 1]"), std::string::npos) << text;
  EXPECT_LT(text.find("for j in"), text.find("for ii in")) << text;
  expect_same_result(p, columns->proc, text);
  EXPECT_FALSE(recurrences_by_columns({parsed(kSteps), {}, false}));
}

TEST(Recurrences, run_in_rows_one_behind_the_other) {
  const ProcPtr p = parsed(R"(
@proc
def relaxed(x: f32[11, 20]):
    for i in seq(1, 10):
        for j in seq(1, 19):
            x[i, j] = x[i - 1, j + 1] + x[i, j - 1] + x[i + 1, j]
)");
  const std::vector<Schedule> made = wavefronts({p, {}, false});
  ASSERT_EQ(made.size(), 3u);  // 4, 8 and 2 rows
  for (const Schedule& s : made) expect_same_result(p, s.proc, str(*s.proc));
  EXPECT_TRUE(wavefronts({parsed(kSteps), {}, false}).empty());
  // The first element of a row goes before all rows.
  const ProcPtr image = parsed(R"(
@proc
def image(x: f32[9, 21], s: f32[10, 22]):
    for i in seq(0, 9):
        s[i + 1, 0] = 0.0
        for j in seq(0, 21):
            s[i + 1, j + 1] = x[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
)");
  const std::vector<Schedule> rows = wavefronts({image, {}, false});
  ASSERT_EQ(rows.size(), 3u);
  for (const Schedule& s : rows) expect_same_result(image, s.proc, str(*s.proc));
}

}  // namespace
}  // namespace exotune
