#include "search/part_plans.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace exotune {

namespace {

// "tile i, j" is of the kind "tile".
std::string kind_of(const PartPlan& plan) { return plan.move.substr(0, plan.move.find(' ')); }

// Turns that a plan waits: one for each factor of 1.5 that the model thinks it slower.
int turns_behind(const PartPlan& plan, double least) {
  if (plan.for_caches || least == 0 || plan.cycles <= least) return 0;
  return static_cast<int>(std::log(plan.cycles / least) / std::log(1.5));
}

}  // namespace

std::vector<PartPlan> moves_in_turn(std::vector<PartPlan> plans) {
  std::stable_sort(plans.begin(), plans.end(),
                   [](const PartPlan& a, const PartPlan& b) { return a.order < b.order; });
  std::set<std::string> seen;
  std::erase_if(plans, [&](const PartPlan& p) { return !seen.insert(p.text_hash).second; });
  std::map<std::string, int> rank;
  double least = 0;
  for (const PartPlan& p : plans)
    if (p.cycles > 0 && (least == 0 || p.cycles < least)) least = p.cycles;
  std::vector<std::tuple<int, bool, double, size_t>> order;
  for (size_t k = 0; k < plans.size(); ++k)
    order.emplace_back(rank[plans[k].move]++ + turns_behind(plans[k], least), !plans[k].for_caches,
                       plans[k].cycles, k);
  std::stable_sort(order.begin(), order.end());
  std::vector<PartPlan> out;
  for (const auto& [turn, others, cycles, k] : order) out.push_back(std::move(plans[k]));
  return out;
}

double order_of(const PartPlans& s, size_t part, size_t alternative) {
  if (alternative == 0) return 0;
  const std::vector<PartPlan>& plans = s.choices[part];
  double turn = 1;
  for (size_t k = 0; k < alternative; ++k) turn += kind_of(plans[k]) == kind_of(plans[alternative]);
  const double all = std::accumulate(s.shares.begin(), s.shares.end(), 0.0);
  return all == 0 ? turn : turn * all / std::max(s.shares[part], 1e-9 * all);
}

double cycles_of(const PartPlans& s, const std::vector<size_t>& which) {
  double all = 0;
  for (size_t n = 0; n < s.choices.size(); ++n) all += s.choices[n][which[n]].cycles * s.entries[n];
  return all;
}

std::map<std::string, std::vector<size_t>> ways_alike(const PartPlans& s) {
  std::map<std::string, std::vector<size_t>> ways;
  for (size_t n = 0; n < s.choices.size(); ++n)
    for (size_t k = s.choices[n].size(); k-- > 0;) {  // the best of a kind is met last
      std::vector<size_t>& which = ways[kind_of(s.choices[n][k])];
      which.resize(s.choices.size(), 0);
      which[n] = k;
    }
  std::erase_if(ways, [](const auto& way) {
    return std::count_if(way.second.begin(), way.second.end(), [](size_t k) { return k > 0; }) < 2;
  });
  return ways;
}

}  // namespace exotune
