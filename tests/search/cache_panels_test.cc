// Nests and recurrences in pieces that a cache holds: what is cut, that it computes the same, what
// stays as it is, and that such programs come first.
#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/moves/panels.h"
#include "search/moves/parts.h"
#include "search/moves/recurrences.h"
#include "search/part_plans.h"
#include "search/part_pricing.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// Vectors of 8 f32: 16 terms of two operands, two vectors wide, are half of the first.
constexpr NearestCaches kSmall{4096, 2048};

std::optional<Schedule> panels_of_text(const std::string& text) {
  return sums_in_panels({parsed(text), {}, false}, {}, kSmall, 8);
}
std::optional<Schedule> strips_of_text(const std::string& text) {
  return recurrence_in_strips({parsed(text), {}, false}, {0, 2400}, 2);
}

bool has(const Schedule& s, const std::string& text) {
  return str(*s.proc).find(text) != std::string::npos;
}

std::string both_ways(const std::string& terms) {
  return "@proc\ndef both_ways(A: f32[" + terms + ", 12], B: f32[" + terms +
         R"(, 12], C: f32[12, 12]):
    for i in seq(0, 12):
        for j in seq(i, 12):
            for k in seq(0, )" +
         terms + R"():
                C[i, j] += A[k, i] * B[k, j] + B[k, i] * A[k, j]
)";
}

TEST(PanelsOfSums, of_a_sum_over_a_triangle) {
  const std::string text = both_ways("64");
  const std::optional<Schedule> made = panels_of_text(text);
  ASSERT_TRUE(made);
  EXPECT_TRUE(has(*made, "for ko in seq(0, 4):\n        for i in seq(0, 12):")) << str(*made->proc);
  EXPECT_TRUE(has(*made, "for k in seq(0, 16):")) << str(*made->proc);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
}

TEST(PanelsOfSums, are_a_little_deeper_where_that_leaves_no_rest) {
  EXPECT_EQ(equal_parts(1000, 96), 91);
  EXPECT_EQ(equal_parts_about(1000, 96), 100);
  EXPECT_EQ(equal_parts_about(960, 96), 96);
  EXPECT_EQ(equal_parts_about(997, 96), equal_parts(997, 96)) << "a prime";
  EXPECT_EQ(equal_parts_about(1000, 60), 50) << "smaller ones do";
  for (int64_t extent = 1; extent < 300; ++extent)
    EXPECT_LE(equal_parts_about(extent, 40), 50) << extent;
}

TEST(PanelsOfSums, of_a_length_that_has_no_equal_parts_leave_a_rest) {
  const std::string text = both_ways("67");
  const std::optional<Schedule> made = panels_of_text(text);
  ASSERT_TRUE(made);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
}

TEST(PanelsOfSums, are_left_out_where_a_cache_holds_it_all) {
  EXPECT_FALSE(panels_of_text(both_ways("20")));
}

TEST(PanelsOfSums, of_two_sums_that_share_their_operands) {
  const std::string text = R"(
@proc
def two(A: f32[10, 64], B: f32[64, 12], C: f32[10, 12], D: f32[10, 12]):
    for i in seq(0, 10):
        for j in seq(0, 12):
            for k in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j]
                D[i, j] += A[i, k] + B[k, j]
)";
  const std::optional<Schedule> made = panels_of_text(text);
  ASSERT_TRUE(made);
  EXPECT_TRUE(has(*made, "for ko in seq(0, 2):\n        for i in")) << str(*made->proc);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
}

// The register tiles of a product cut its sum themselves.
TEST(PanelsOfSums, are_not_for_plain_products) {
  EXPECT_FALSE(panels_of_text(R"(
@proc
def product(A: f32[10, 640], B: f32[640, 12], C: f32[10, 12]):
    for i in seq(0, 10):
        for j in seq(0, 12):
            for k in seq(0, 640):
                C[i, j] += A[i, k] * B[k, j]
)"));
}

TEST(PanelsOfSums, are_not_for_sums_whose_length_follows_a_row) {
  EXPECT_FALSE(panels_of_text(R"(
@proc
def rows(L: f32[64, 64], B: f32[64, 12], C: f32[64, 12]):
    for i in seq(0, 64):
        for j in seq(0, 12):
            for k in seq(0, i + 1):
                C[i, j] += L[i, k] * B[k, j]
)"));
}

std::string solve(const std::string& columns, const std::string& last) {
  return "@proc\ndef solve(L: f64[12, 12], B: f64[12, " + columns + "], s: f64[" + columns +
         R"( + 1]):
    for i in seq(0, 12):
        for k in seq(0, i):
            for j in seq(0, )" +
         columns + R"():
                B[i, j] += -(L[i, k] * B[k, j])
        for j in seq(0, )" +
         columns + "):\n            " + last + "\n";
}

TEST(StripsOfRecurrences, of_a_solve_whose_columns_know_nothing_of_each_other) {
  const std::string text = solve("96", "B[i, j] = B[i, j] * L[i, i]");
  const std::optional<Schedule> made = strips_of_text(text);
  ASSERT_TRUE(made);
  EXPECT_TRUE(has(*made, "for jo in seq(0, 4):")) << str(*made->proc);
  EXPECT_TRUE(has(*made, "B_strip : f64[12, 24]")) << str(*made->proc);
  // The rows are as they were, in the strip.
  EXPECT_TRUE(has(*made,
                  "for k in seq(0, i):\n                for j in seq(0, 24):\n"
                  "                    B_strip[i, j] += "))
      << str(*made->proc);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
}

TEST(StripsOfRecurrences, have_rows_that_come_in_blocks) {
  const std::string text = solve("96", "B[i, j] = B[i, j] * L[i, i]");
  const std::optional<Schedule> strips = strips_of_text(text);
  ASSERT_TRUE(strips);
  const std::vector<Schedule> made = blocks_of_recurrences(*strips, 2);
  ASSERT_FALSE(made.empty());
  EXPECT_TRUE(has(made[0], "for ib in seq(0, 2):")) << str(*made[0].proc);
  EXPECT_TRUE(has(made[0], "B_strip[6 * ib + i, j] += ") ||
              has(made[0], "B_strip[i + 6 * ib, j] += "))
      << str(*made[0].proc);
  expect_same_result(parsed(text), made[0].proc, str(*made[0].proc));
}

TEST(StripsOfRecurrences, of_a_width_that_has_no_equal_parts_leave_a_rest) {
  const std::string text = solve("97", "B[i, j] = B[i, j] * L[i, i]");
  const std::optional<Schedule> made = strips_of_text(text);
  ASSERT_TRUE(made);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
}

TEST(StripsOfRecurrences, are_left_out_where_a_column_needs_the_one_before) {
  EXPECT_FALSE(strips_of_text(solve("96", "s[j + 1] = s[j] + B[i, j]")));
}

TEST(StripsOfRecurrences, are_left_out_where_the_second_cache_holds_the_rows) {
  EXPECT_FALSE(strips_of_text(solve("24", "B[i, j] = B[i, j] * L[i, i]")));
}

TEST(StripsOfRecurrences, are_not_for_rows_in_any_order) {
  EXPECT_FALSE(strips_of_text(R"(
@proc
def apart(A: f64[12, 96], B: f64[12, 96], C: f64[12, 96]):
    for i in seq(0, 12):
        for j in seq(0, 96):
            B[i, j] = A[i, j]
        for j in seq(0, 96):
            C[i, j] = A[i, j]
)"));
}

// Rows that each need all rows before them, with few columns, so that the interpreter is quick.
std::string solve_of(const std::string& rows) {
  return "@proc\ndef solve(L: f64[" + rows + ", " + rows + "], B: f64[" + rows +
         R"(, 2]):
    for i in seq(0, )" +
         rows + R"():
        for k in seq(0, i):
            for j in seq(0, 2):
                B[i, j] += -(L[i, k] * B[k, j])
        for j in seq(0, 2):
            B[i, j] = B[i, j] * L[i, i]
)";
}

TEST(WideBlocks, of_a_long_recurrence_are_blocked_again) {
  const ProcPtr p = parsed(solve_of("512"));
  const std::optional<Schedule> made = wide_blocks_of_recurrences({p, {}, false}, 4);
  ASSERT_TRUE(made);
  EXPECT_TRUE(has(*made, "for ib in seq(0, 8):")) << str(*made->proc);
  EXPECT_TRUE(has(*made, "for ib_1 in seq(0, 4):")) << str(*made->proc);
  expect_same_result(p, made->proc, str(*made->proc));
}

// A part of a block of a block has both as arguments, and each has a value of its own.
TEST(WideBlocks, have_parts_that_are_priced_in_the_middle_of_both) {
  Schedule s = *wide_blocks_of_recurrences({parsed(solve_of("512")), {}, false}, 4);
  const BeamContext context;
  const PartPricing pricing(context);
  bool found = false;
  for (const Cursor& nest : parts_of(s.proc)) {
    Part part;
    Schedule apart = s;
    ASSERT_FALSE(take_out(apart, nest, "part", part));
    const ProcPtr named = with_names_apart(part.proc);
    EXPECT_EQ(str(*named), str(*part.proc));
    const SizeBinding sizes = pricing.sizes_of(*named);
    if (!sizes.count("ib_1")) continue;
    found = true;
    EXPECT_EQ(sizes.at("ib"), 4);
    EXPECT_EQ(sizes.at("ib_1"), 2);
  }
  EXPECT_TRUE(found);
}

TEST(WideBlocks, of_which_there_would_be_few_are_none) {
  EXPECT_FALSE(wide_blocks_of_recurrences({parsed(solve_of("500")), {}, false}, 4));
}

// What is there for the caches has the first turn of all, whatever the model thinks of it.
TEST(MovesInTurn, begin_with_what_is_for_the_caches) {
  std::vector<PartPlan> plans(4);
  for (size_t k = 0; k < plans.size(); ++k) {
    plans[k].text_hash = std::to_string(k);
    plans[k].order = plans[k].cycles = static_cast<double>(k);
    plans[k].move = k < 2 ? "tile" : "panels";
    plans[k].for_caches = k >= 2;
  }
  std::string order;
  for (const PartPlan& plan : moves_in_turn(plans)) order += plan.text_hash;
  EXPECT_EQ(order, "2031");
}

// A kind of move that the model thinks four times as slow waits until others had three turns.
TEST(MovesInTurn, let_wait_what_the_model_thinks_slow) {
  std::vector<PartPlan> plans(6);
  for (size_t k = 0; k < plans.size(); ++k) {
    plans[k].text_hash = std::to_string(k);
    plans[k].order = static_cast<double>(k);
    plans[k].cycles = k < 5 ? 1 : 4;
    plans[k].move = k < 5 ? "tile" : "order";
  }
  std::string order;
  for (const PartPlan& plan : moves_in_turn(plans)) order += plan.text_hash;
  EXPECT_EQ(order, "012354");
}

TEST(PanelsOfTriangles, are_for_what_the_second_cache_does_not_hold) {
  const std::string text = R"(
@proc
def sums(A: f32[180, 180], B: f32[180, 12], C: f32[180, 12]):
    for i in seq(0, 180):
        for k in seq(0, i):
            for j in seq(0, 12):
                C[i, j] += A[i, k] * B[k, j]
)";
  const Path nest = {{Child::kBody, 0}};
  const std::optional<Schedule> made =
      triangle_in_panels({parsed(text), {}, false}, nest, {}, kSmall, 8);
  ASSERT_TRUE(made);
  EXPECT_TRUE(has(*made, "for k in seq(0, 48)")) << str(*made->proc);
  expect_same_result(parsed(text), made->proc, str(*made->proc));
  EXPECT_FALSE(triangle_in_panels({parsed(text), {}, false}, nest, {}, {4096, 1 << 20}, 8));
}

}  // namespace
}  // namespace exotune
