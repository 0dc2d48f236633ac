// Calibration without a machine: what is drawn, how weights are kept, how a model is judged. The
// whole command is tests/cli/calibrate_test.cc.
#include "search/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/diagnostic.h"
#include "core/frontend/parser.h"
#include "core/library/script.h"
#include "cost/machine_figures.h"
#include "cost/static_cost.h"
#include "search/nest.h"
#include "search/random_schedules.h"
#include "search/tuning_context.h"
#include "search/weights.h"
#include "tests/search/machines.h"

namespace exotune {
namespace {

ProcPtr product() {
  return parse_module(R"(
@proc
def f(A: f32[40, 48], B: f32[48, 64], C: f32[40, 64]):
    for i in seq(0, 40):
        for j in seq(0, 64):
            for k in seq(0, 48):
                C[i, j] += A[i, k] * B[k, j]
)",
                      "product.exo")
      .procs.front();
}

TEST(RandomSchedules, the_same_seed_draws_the_same_and_many_are_valid) {
  const TargetPtr target = avx512();
  const ProcPtr p = product();
  const Nest nest = inspect_nest(*p);
  const auto first = random_schedules(nest, *target, 24, 5);
  const auto texts = [](const std::vector<Steps>& draws) {
    std::vector<std::string> out;
    for (const Steps& steps : draws) out.push_back(key_of(steps));
    return out;
  };
  EXPECT_EQ(texts(first), texts(random_schedules(nest, *target, 24, 5)));
  EXPECT_NE(texts(first), texts(random_schedules(nest, *target, 24, 6)));
  ASSERT_EQ(first.size(), 24u);
  EXPECT_TRUE(first[0].empty());
  std::set<double> costs;
  int valid = 0;
  const CostWeights weights = weights_of(*target, machine_named("any"), nullptr);
  for (const Steps& steps : first) {
    const Stepped made = run_steps(p, steps);
    if (made.refusal) {
      ASSERT_NE(made.refusal->op, kInternalError) << made.refusal->text();
      continue;
    }
    ++valid;
    costs.insert(static_cost(*made.proc, {}, weights).cycles);
  }
  EXPECT_GE(valid, 12);
  EXPECT_GE(costs.size(), 10u);
  EXPECT_GT(*costs.rbegin(), 3 * *costs.begin());  // good and bad
}

TEST(RandomSchedules, a_nest_that_is_not_understood_stays_as_it_is) {
  Nest nest;
  EXPECT_EQ(random_schedules(nest, *avx512(), 10, 1).size(), 1u);
}

TEST(Weights, are_found_again_for_the_same_text_and_microarchitecture_only) {
  const TargetPtr target = avx512();
  const auto store = make_memory_store();
  const Machine here = machine_named("znver5");
  EXPECT_FALSE(weights_of(*target, here, store.get()).fitted);
  CostWeights kept = weights_of(*target, here, nullptr);
  kept[Term::kLines2] = 3.25;
  kept[Term::kPort] = 0;
  kept.hidden = 0.65;
  keep_weights(*target, here, kept, {"dot"}, *store);
  const CostWeights found = weights_of(*target, here, store.get());
  EXPECT_TRUE(found.fitted);
  EXPECT_EQ(found.cycles, kept.cycles);
  EXPECT_DOUBLE_EQ(found.hidden, 0.65);
  EXPECT_TRUE(weights_of(*target, here, store.get(), "gemm").fitted);
  EXPECT_FALSE(weights_of(*target, here, store.get(), "dot").fitted);
  EXPECT_FALSE(weights_of(*target, machine_named("haswell"), store.get()).fitted);
  Target edited = *target;
  edited.hash = "0123";
  EXPECT_FALSE(weights_of(edited, here, store.get()).fitted);
  EXPECT_EQ(weights_of(edited, here, store.get()).cycles,
            weights_of(*target, here, nullptr).cycles);
}

TEST(Weights, a_line_into_a_cache_costs_what_the_next_level_says) {
  const TargetPtr target = avx512();
  const CostMachine m = cost_machine(*target, target->levels);
  ASSERT_EQ(m.caches.size(), 3u);
  EXPECT_DOUBLE_EQ(m.caches[0].cycles_per_line, target->find_level("L2")->cost_per_line);
  EXPECT_DOUBLE_EQ(m.caches[2].cycles_per_line, target->find_level("DRAM")->cost_per_line);
  EXPECT_EQ(m.vector_bytes, 64);
}

CalibrationSample sample(const std::string& kernel, const std::string& operation, int size, int k,
                         bool held_back) {
  CalibrationSample s;
  s.kernel = kernel;
  s.operation = operation;
  s.sizes = "n=" + std::to_string(size);
  s.features[Term::kPort] = size * (1 + k);
  s.features[Term::kLoop] = size * (10 - k);
  s.cycles = 2.0 * size * (1 + k);
  s.operations = size;
  s.held_back = held_back;
  return s;
}

TEST(Calibration, judges_by_held_back_runs_by_kernel_operation_and_size) {
  std::vector<CalibrationSample> samples;
  for (const int size : {100, 1000})
    for (int k = 0; k < 8; ++k)
      for (const char* kernel : {"up", "down"})
        for (const bool held_back : {false, true})
          samples.push_back(sample(kernel, "walk", size, k, held_back));
  samples.push_back(sample("alone", "alone", 10, 1, false));
  CostWeights right, wrong;
  right[Term::kPort] = 2;
  wrong[Term::kLoop] = 1;
  const auto rows = judge_weights(samples, wrong, right);
  ASSERT_EQ(rows.size(), 4u);
  for (const KernelCorrelation& k : rows) {
    if (k.kernel == "alone") {
      EXPECT_EQ(k.held_back, 0);
      EXPECT_EQ(k.fitted, 1);
      continue;
    }
    EXPECT_EQ(k.held_back, k.kernel == "all walk" ? 32 : 16);
    EXPECT_NEAR(k.after, 1, 1e-9) << k.kernel;
    EXPECT_NEAR(k.before, -1, 1e-9) << k.kernel;
    EXPECT_NEAR(k.within_after, 1, 1e-9) << k.kernel;
    EXPECT_NEAR(k.factor_after, 1, 1e-9) << k.kernel;
    EXPECT_GT(k.factor_before, 1.5) << k.kernel;
  }
  EXPECT_DOUBLE_EQ(samples.front().after, samples.front().cycles);
}

TEST(Calibration, splits_hold_back_a_share_and_others_each_time) {
  std::vector<CalibrationSample> samples;
  for (int k = 0; k < 500; ++k) {
    samples.push_back(sample("walk", "walk", 100, k, false));
    samples.back().candidate_id = std::to_string(k);
  }
  const auto held_back = [&](uint64_t seed) {
    split_samples(samples, 0.4, seed);
    std::set<std::string> out;
    for (const CalibrationSample& s : samples)
      if (s.held_back) out.insert(s.candidate_id);
    return out;
  };
  const auto first = held_back(1);
  EXPECT_NEAR(static_cast<double>(first.size()), 200, 50);
  EXPECT_EQ(held_back(1), first);
  EXPECT_NE(held_back(2), first);
}

TEST(Calibration, several_splits_are_summarised_and_a_loss_is_seen) {
  const auto row = [](double before, double after) {
    KernelCorrelation k{"walk", "walk"};
    k.fitted = 6;
    k.held_back = 4;
    k.before = before;
    k.after = after;
    return std::vector<KernelCorrelation>{k, {"part", ""}};
  };
  const auto better = summary_of({row(0.5, 0.6), row(0.9, 0.7), row(0.4, 0.9)});
  ASSERT_EQ(better.size(), 2u);
  EXPECT_EQ(better[0].runs, 10);
  EXPECT_EQ(better[0].held_back, 4);
  EXPECT_DOUBLE_EQ(better[0].before.median, 0.5);
  EXPECT_DOUBLE_EQ(better[0].before.least, 0.4);
  EXPECT_DOUBLE_EQ(better[0].after.median, 0.7);
  EXPECT_DOUBLE_EQ(better[0].after.least, 0.6);
  EXPECT_NEAR(better[0].gain, 0.1, 1e-12);
  EXPECT_FALSE(better[0].worse());
  EXPECT_TRUE(summary_of({row(0.5, 0.4), row(0.9, 0.7), row(0.4, 0.9)})[0].worse());
  EXPECT_FALSE(better[1].worse());
  EXPECT_TRUE(summary_of({}).empty());
}

}  // namespace
}  // namespace exotune
