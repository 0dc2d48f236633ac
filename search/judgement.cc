#include "search/judgement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/hashing.h"
#include "cost/static_cost.h"
#include "runners/statistics.h"

namespace exotune {

namespace {

constexpr size_t kRunsOfASize = 5;  // fewer have no rank correlation worth the name

// Predictions and measurements of some runs, by operation.
struct Pairs {
  std::vector<double> measured, before, after;
  void add(const CalibrationSample& s) {
    measured.push_back(s.cycles / s.operations);
    before.push_back(s.before / s.operations);
    after.push_back(s.after / s.operations);
  }
};

double typical_factor(const std::vector<double>& measured, const std::vector<double>& predicted) {
  std::vector<double> factors;
  for (size_t k = 0; k < measured.size(); ++k)
    if (predicted[k] > 0)
      factors.push_back(std::exp(std::fabs(std::log(predicted[k] / measured[k]))));
  return median_of(std::move(factors));
}

Spread spread_of(const std::vector<double>& values) {
  return {median_of(values), *std::min_element(values.begin(), values.end())};
}

// All runs of an operation together, where sizes far apart make any model look good, and within
// each size, where the model has to tell one schedule from another.
void correlate(const Pairs& all, const std::map<std::string, Pairs>& by_size,
               KernelCorrelation& into) {
  into.before = spearman(all.before, all.measured);
  into.after = spearman(all.after, all.measured);
  into.factor_before = typical_factor(all.measured, all.before);
  into.factor_after = typical_factor(all.measured, all.after);
  int sizes = 0;
  for (const auto& [size, pairs] : by_size) {
    if (pairs.measured.size() < kRunsOfASize) continue;
    ++sizes;
    into.within_before += spearman(pairs.before, pairs.measured);
    into.within_after += spearman(pairs.after, pairs.measured);
  }
  if (sizes == 0) return;
  into.within_before /= sizes;
  into.within_after /= sizes;
}

}  // namespace

void split_samples(std::vector<CalibrationSample>& samples, double share, uint64_t seed) {
  for (CalibrationSample& s : samples) {
    const uint64_t lot = hash_combine(seed, hash_bytes(s.kernel + s.sizes + s.candidate_id));
    s.held_back = static_cast<double>(lot % 1000) < 1000 * share;
  }
}

std::vector<KernelCorrelation> judge_weights(std::vector<CalibrationSample>& samples,
                                             const CostWeights& before, const CostWeights& after) {
  std::vector<KernelCorrelation> out;
  std::map<std::string, size_t> rows;
  std::map<std::string, Pairs> all;
  std::map<std::string, std::map<std::string, Pairs>> by_size;
  std::map<std::string, std::set<std::string>> members;  // kernels by operation
  for (const CalibrationSample& s : samples) members[s.operation].insert(s.kernel);
  const auto enter = [&](const std::string& name, const CalibrationSample& s, bool whole) {
    const auto [row, fresh] = rows.try_emplace(name, out.size());
    if (fresh) out.push_back({name, whole ? s.operation : ""});
    ++(s.held_back ? out[row->second].held_back : out[row->second].fitted);
    if (!s.held_back) return;
    all[name].add(s);
    by_size[name][s.kernel + s.sizes].add(s);
  };
  for (CalibrationSample& s : samples) {
    s.before = cost_of(s.features, before);
    s.after = cost_of(s.features, after);
    const bool alone = members[s.operation].size() == 1;
    enter(s.kernel, s, alone);
    if (!alone) enter("all " + s.operation, s, true);
  }
  for (KernelCorrelation& k : out) correlate(all[k.kernel], by_size[k.kernel], k);
  return out;
}

std::vector<KernelSpread> summary_of(const std::vector<std::vector<KernelCorrelation>>& splits) {
  std::vector<KernelSpread> out;
  if (splits.empty()) return out;
  for (size_t row = 0; row < splits.front().size(); ++row) {
    const auto values = [&](auto value) {
      std::vector<double> of;
      for (const std::vector<KernelCorrelation>& split : splits) of.push_back(value(split[row]));
      return of;
    };
    using K = KernelCorrelation;
    const K& first = splits.front()[row];
    KernelSpread k;
    k.kernel = first.kernel;
    k.operation = first.operation;
    k.runs = first.fitted + first.held_back;
    k.held_back = static_cast<int>(median_of(values([](const K& c) { return 1.0 * c.held_back; })));
    k.before = spread_of(values([](const K& c) { return c.before; }));
    k.after = spread_of(values([](const K& c) { return c.after; }));
    k.within_before = spread_of(values([](const K& c) { return c.within_before; }));
    k.within_after = spread_of(values([](const K& c) { return c.within_after; }));
    k.factor_before = median_of(values([](const K& c) { return c.factor_before; }));
    k.factor_after = median_of(values([](const K& c) { return c.factor_after; }));
    k.gain = median_of(values([](const K& c) { return c.after - c.before; }));
    out.push_back(k);
  }
  return out;
}

}  // namespace exotune
