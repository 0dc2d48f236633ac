// Intervals of the median, and rank correlation: ties share ranks, and only the order of values
// counts.
#include "runners/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace exotune {
namespace {

std::vector<double> draw(std::mt19937& random, size_t n, int distinct) {
  std::uniform_int_distribution<int> value(1, distinct);
  std::vector<double> out(n);
  for (double& v : out) v = value(random);
  return out;
}

TEST(Spearman, ties_share_the_mean_of_their_ranks) {
  EXPECT_EQ(ranks_of({30, 10, 20, 20, 40}), (std::vector<double>{4, 1, 2.5, 2.5, 5}));
  EXPECT_EQ(ranks_of({7, 7, 7}), (std::vector<double>{2, 2, 2}));
}

TEST(Spearman, known_values) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {9, 7, 5, 1}), -1);
  // 1 - 6 * sum(d^2) / (n (n^2 - 1)) without ties: d = 1, 1, 1, 1, 0.
  EXPECT_NEAR(spearman({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}), 0.8, 1e-12);
  EXPECT_DOUBLE_EQ(spearman({1, 2}, {3, 3}), 0);
  EXPECT_DOUBLE_EQ(spearman({1}, {1}), 0);
  EXPECT_DOUBLE_EQ(spearman({}, {}), 0);
}

TEST(Spearman, properties_hold_on_random_values) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const size_t n = 2 + static_cast<size_t>(round % 30);
    const std::vector<double> x = draw(random, n, 8), y = draw(random, n, 8);
    const double r = spearman(x, y);
    ASSERT_GE(r, -1 - 1e-12);
    ASSERT_LE(r, 1 + 1e-12);
    ASSERT_NEAR(r, spearman(y, x), 1e-12);
    std::vector<double> rising = y, falling = y;
    for (double& v : rising) v = std::exp(v) + 3 * v;
    for (double& v : falling) v = 1 / v;
    ASSERT_NEAR(spearman(x, rising), r, 1e-12);
    ASSERT_NEAR(spearman(x, falling), -r, 1e-12);
    double sum = 0;
    for (const double rank : ranks_of(x)) sum += rank;
    ASSERT_NEAR(sum, static_cast<double>(n * (n + 1)) / 2, 1e-9);
  }
}

TEST(NextBlock, differences_between_blocks_count_and_those_within_do_not_hide_them) {
  // Three processes, each steady in itself.
  const std::vector<double> values = {1.00, 1.00, 1.00, 1.10, 1.10, 1.10, 0.90, 0.90, 0.90};
  const SampleInterval i = next_block_interval(values, {3, 3, 3});
  EXPECT_EQ(i.median, 1.0);
  EXPECT_LT(i.low, 0.8);
  EXPECT_GT(i.high, 1.2);
}

TEST(NextBlock, equal_blocks_leave_what_changes_more_slowly) {
  const SampleInterval i = next_block_interval(std::vector<double>(20, 2.0), {4, 4, 4, 4, 4});
  EXPECT_LT(i.low, 1.99);
  EXPECT_GT(i.low, 1.8);
}

TEST(NextBlock, one_block_tells_nothing_of_the_next) {
  const std::vector<double> values(7, 2.0);
  const SampleInterval next = next_block_interval(values, {7});
  EXPECT_EQ(next.median, 2.0);
  EXPECT_LT(next.low, 1.8);
  EXPECT_GT(next.high, 2.2);
  const std::vector<double> wide = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_LE(next_block_interval(wide, {7}).low, median_interval(wide).low);
}

TEST(NextBlock, rounds_without_a_value_are_left_out) {
  const double nan = std::nan("");
  const SampleInterval i = next_block_interval({nan, nan, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2});
  EXPECT_EQ(i.median, 1.0);
}

TEST(Blocks, their_medians_are_meant_where_both_have_one) {
  const double none = std::nan("");
  const std::vector<double> values = {2, none, 2, none, none, 8, 8, 8};
  const std::vector<double> medians = block_medians(values, {3, 2, 3});
  EXPECT_EQ(medians, (std::vector<double>{2, 0, 8}));
  EXPECT_DOUBLE_EQ(typical_of(values, {3, 2, 3}), 4);
  EXPECT_DOUBLE_EQ(mean_where_both({2, 4, 8}, medians), 4);
  EXPECT_DOUBLE_EQ(mean_where_both({2, 4, 8}, {0, 1, 0}), 4);
  EXPECT_EQ(mean_where_both({2, 4, 8}, {0, 0, 0}), 0);
}

TEST(Statistics, the_interval_of_nine_is_second_to_eighth) {
  const SampleInterval i = median_interval({9, 1, 8, 2, 7, 3, 6, 4, 5});
  EXPECT_EQ(i.median, 5);
  EXPECT_EQ(i.low, 2);
  EXPECT_EQ(i.high, 8);
}

TEST(Statistics, few_values_give_their_range) {
  const SampleInterval i = median_interval({3, 1, 2});
  EXPECT_EQ(i.median, 2);
  EXPECT_EQ(i.low, 1);
  EXPECT_EQ(i.high, 3);
  EXPECT_EQ(median_of({}), 0);
}

}  // namespace
}  // namespace exotune
