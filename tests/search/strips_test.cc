// Strips of what all rows read, in registers.
#include "search/moves/strips.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/printer.h"
#include "search/moves/finishes.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

TargetPtr avx2() { return load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"}); }

// What the finishes called "strips" make of a nest, in AVX2: vectors of 8, 16 registers.
std::vector<Schedule> in_strips(const ProcPtr& p) {
  const TargetPtr target = avx2();
  std::vector<Schedule> out;
  for (const Finish& f :
       finishes_of(outline_of(*p), *target, target->levels, instruction_values(*target))) {
    if (f.name.find("strips=") != 0) continue;
    out.push_back({p, {}, false});
    const auto refused = [&](const ScheduleStep& step) { return bool(apply(out.back(), step)); };
    // What else stands in the loop over rows keeps a row from being cut.
    if (std::any_of(f.steps.begin(), f.steps.end(), refused)) out.pop_back();
  }
  return out;
}

// The text of the first of them, which does what the nest does; "": there is none.
std::string first_of(const ProcPtr& p) {
  const std::vector<Schedule> made = in_strips(p);
  if (made.empty()) return "";
  const std::string text = str(*made.front().proc);
  expect_same_result(p, made.front().proc, text);
  return text;
}

ProcPtr update(int columns) {
  const std::string n = std::to_string(columns);
  return parsed("@proc\ndef update(A: f32[12, " + n + "], x: f32[12], y: f32[" + n +
                "]):\n    for i in seq(0, 12):\n        for j in seq(0, " + n +
                "):\n            A[i, j] += x[i] * y[j]\n");
}

TEST(Strips, of_a_shared_vector_stay_in_registers_while_rows_go_by) {
  for (const int columns : {120, 96, 83}) {
    const ProcPtr p = update(columns);
    const std::vector<Schedule> made = in_strips(p);
    ASSERT_EQ(made.size(), 2u) << columns;
    for (const Schedule& s : made) {
      const std::string text = str(*s.proc);
      EXPECT_NE(text.find("for jo in seq(0, "), std::string::npos) << text;
      EXPECT_NE(text.find("y_r_0 : f32[8] @ AVX2"), std::string::npos) << text;
      expect_same_result(p, s.proc, text);
    }
  }
}

TEST(Strips, that_are_whole_rows_are_not_cut) {
  const ProcPtr p = update(32);
  ASSERT_EQ(in_strips(p).size(), 2u);
  EXPECT_EQ(first_of(p).find("for jo"), std::string::npos);
}

TEST(Strips, hold_all_that_rows_share) {
  const ProcPtr p = parsed(R"(
@proc
def normalized(A: f32[12, 96], s: f32[96], t: f32[96]):
    for i in seq(0, 12):
        for j in seq(0, 96):
            A[i, j] = A[i, j] * s[j] + t[j]
)");
  const std::string text = first_of(p);
  EXPECT_NE(text.find("s_r_0"), std::string::npos) << text;
  EXPECT_NE(text.find("t_r_0"), std::string::npos) << text;
}

// Bins of a histogram: what else stands in the loop over what is counted is in nobody's way, and an
// edge that is read as the next one's stays in memory.
TEST(Strips, hold_all_that_rows_add_to) {
  const ProcPtr p = parsed(R"(
@proc
def bins(x: f32[40], e: f32[17], mono: f32[16], quad: f32[16]):
    for i in seq(0, 40):
        r: f32
        r = x[i] * x[i]
        for k in seq(0, 16):
            mono[k] += select(r, e[k], 0.0, select(r, e[k + 1], r, 0.0))
            quad[k] += r * e[k]
)");
  const std::string text = first_of(p);
  EXPECT_NE(text.find("mono_r_0"), std::string::npos) << text;
  EXPECT_NE(text.find("quad_r_0"), std::string::npos) << text;
  EXPECT_EQ(text.find("e_r"), std::string::npos) << text;
}

TEST(Strips, are_not_for_sums_of_columns_alone_nor_for_what_each_row_has_of_its_own) {
  EXPECT_TRUE(in_strips(parsed(R"(
@proc
def columns(A: f32[12, 96], x: f32[12], y: f32[96]):
    for i in seq(0, 12):
        for j in seq(0, 96):
            y[j] += x[i] * A[i, j]
)"))
                  .empty());
  EXPECT_TRUE(in_strips(parsed(R"(
@proc
def sums(A: f32[12, 96], B: f32[12, 96]):
    for i in seq(0, 12):
        for j in seq(0, 96):
            A[i, j] += B[i, j]
)"))
                  .empty());
}

TEST(Strips, divide_a_row_where_equal_ones_do) {
  const TargetPtr target = avx2();
  const VectorValues unit(*target, ScalarType::kF32, instruction_values(*target));
  EXPECT_EQ(strips_of(unit, 1, 120), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(strips_of(unit, 1, 96), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(strips_of(unit, 2, std::nullopt), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(strips_of(unit, 9, 96), (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace exotune
