#include "runners/statistics.h"

#include <algorithm>
#include <cmath>

namespace exotune {

namespace {

std::vector<double> sorted_numbers(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  return values;
}

double middle(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

}  // namespace

double median_of(std::vector<double> values) { return middle(sorted_numbers(std::move(values))); }

SampleInterval median_interval(std::vector<double> values) {
  const std::vector<double> sorted = sorted_numbers(std::move(values));
  const size_t n = sorted.size();
  if (n == 0) return {};
  // The largest k with P(Binomial(n, 1/2) <= k) <= 2.5 %: the k-th from either end bound the
  // median.
  size_t k = 0;
  double term = std::pow(0.5, static_cast<double>(n)), sum = term;
  for (size_t i = 0; i + 1 < n / 2; ++i) {
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
    sum += term;
    if (sum > 0.025) break;
    k = i + 1;
  }
  return {middle(sorted), sorted[k], sorted[n - 1 - k]};
}

}  // namespace exotune
