// Fitting: known weights come back, nothing becomes negative, terms can be left out.
#include "cost/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cost/static_cost.h"

namespace exotune {
namespace {

// Runs whose cycles are what `truth` says, times exp(noise).
std::vector<MeasuredRun> runs_of(const CostWeights& truth, const std::vector<Term>& terms,
                                 int count, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> magnitude(0, 4), error(-noise, noise);
  std::vector<MeasuredRun> out;
  for (int k = 0; k < count; ++k) {
    MeasuredRun r;
    for (const Term t : terms) r.features[t] = std::pow(10, magnitude(random));
    r.cycles = cost_of(r.features, truth) * std::exp(error(random));
    out.push_back(r);
  }
  return out;
}

CostWeights truth(double hidden) {
  CostWeights w;
  w[Term::kRun] = 30;
  w[Term::kPort] = 1.1;
  w[Term::kLoop] = 0.4;
  w[Term::kLines1] = 1.7;
  w[Term::kPages] = 12;
  w.hidden = hidden;
  return w;
}
const std::vector<Term> kUsed = {Term::kRun, Term::kPort, Term::kLoop, Term::kLines1, Term::kPages};

TEST(Fit, known_weights_come_back) {
  for (const double hidden : {0.0, 0.8}) {
    const CostWeights want = truth(hidden);
    CostWeights start;
    for (const Term t : kUsed) start[t] = 1;
    FitOptions options;
    options.pull = 1e-6;
    const CostWeights got = fit_weights(runs_of(want, kUsed, 300, 0, 7), start, options);
    EXPECT_TRUE(got.fitted);
    EXPECT_DOUBLE_EQ(got.hidden, hidden);
    for (const Term t : kUsed) EXPECT_NEAR(got[t], want[t], 0.02 * want[t]) << name_of(t);
  }
}

TEST(Fit, noise_and_a_few_wild_runs_move_it_little) {
  const CostWeights want = truth(0.8);
  CostWeights start;
  for (const Term t : kUsed) start[t] = 1;
  std::vector<MeasuredRun> runs = runs_of(want, kUsed, 400, 0.05, 11);
  for (size_t k = 0; k < runs.size(); k += 40) runs[k].cycles *= 20;
  const CostWeights got = fit_weights(runs, start);
  for (const Term t : {Term::kPort, Term::kLines1, Term::kPages})
    EXPECT_NEAR(got[t], want[t], 0.2 * want[t]) << name_of(t);
}

TEST(Fit, no_weight_is_negative) {
  // Cycles that fall as one count grows: the best sign would be negative.
  std::vector<MeasuredRun> runs;
  for (int k = 1; k <= 50; ++k) {
    MeasuredRun r;
    r.features[Term::kPort] = 1000;
    r.features[Term::kBranch] = k;
    r.cycles = 1000.0 - 5 * k;
    runs.push_back(r);
  }
  CostWeights start;
  const CostWeights got = fit_weights(runs, start);
  for (const double w : got.cycles) EXPECT_GE(w, 0);
  EXPECT_DOUBLE_EQ(got[Term::kBranch], 0);
}

TEST(Fit, terms_left_out_stay_at_zero_and_unseen_ones_where_they_were) {
  CostWeights start;
  for (const Term t : kUsed) start[t] = 1;
  start[Term::kCall] = 10;
  FitOptions options;
  options.without = {Term::kPages};
  const CostWeights got = fit_weights(runs_of(truth(0), kUsed, 100, 0, 3), start, options);
  EXPECT_DOUBLE_EQ(got[Term::kPages], 0);
  EXPECT_DOUBLE_EQ(got[Term::kCall], 10);
  EXPECT_FALSE(fit_weights({}, start).fitted);
}

TEST(Fit, least_squares_solves_what_has_a_solution_and_leaves_columns_that_say_nothing_new) {
  // x = 2, y = -3, of three equations; the third column is the sum of the others.
  const std::vector<std::vector<double>> columns = {{1, 2, 0}, {1, 0, 4}, {2, 2, 4}};
  const std::vector<double> b = {-1, 4, -12};
  const std::vector<double> two = least_squares({columns[0], columns[1]}, b);
  EXPECT_NEAR(two[0], 2, 1e-12);
  EXPECT_NEAR(two[1], -3, 1e-12);
  const std::vector<double> three = least_squares(columns, b);
  EXPECT_NEAR(three[0], 2, 1e-12);
  EXPECT_NEAR(three[1], -3, 1e-12);
  EXPECT_EQ(three[2], 0);
  // The mean is nearest to them all; no column, nothing.
  EXPECT_NEAR(least_squares({{1, 1, 1}}, {1, 2, 6})[0], 3, 1e-12);
  EXPECT_TRUE(least_squares({}, {1, 2}).empty());
}

TEST(Fit, nonnegative_least_squares_is_no_worse_than_any_point_nearby) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(-1, 1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<double>> a(12, std::vector<double>(5));
    std::vector<double> b(12);
    for (auto& row : a)
      for (double& v : row) v = value(random);
    for (double& v : b) v = value(random);
    const std::vector<double> x = nonnegative_least_squares(a, b);
    const auto squares = [&](const std::vector<double>& at) {
      double out = 0;
      for (size_t r = 0; r < a.size(); ++r) {
        double off = -b[r];
        for (size_t c = 0; c < at.size(); ++c) off += a[r][c] * at[c];
        out += off * off;
      }
      return out;
    };
    for (const double v : x) ASSERT_GE(v, 0);
    for (size_t c = 0; c < x.size(); ++c)
      for (const double step : {-1e-3, 1e-3}) {
        std::vector<double> other = x;
        other[c] = std::max(0.0, other[c] + step);
        ASSERT_LE(squares(x), squares(other) + 1e-12);
      }
  }
}

}  // namespace
}  // namespace exotune
