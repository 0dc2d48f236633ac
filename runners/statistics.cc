#include "runners/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace exotune {
// Times are not normal: the machine only ever adds to them. So medians, and intervals that ask
// nothing of the distribution, except between blocks, where Student's t is of the few medians.

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

std::vector<double> block_medians(const std::vector<double>& values,
                                  const std::vector<int>& blocks) {
  std::vector<double> medians;
  auto at = values.begin();
  for (const int count : blocks) {
    const auto end = at + std::min<std::ptrdiff_t>(count, values.end() - at);
    medians.push_back(median_of({at, end}));
    at = end;
  }
  return medians;
}

double mean_where_both(const std::vector<double>& medians, const std::vector<double>& others) {
  double logarithms = 0;
  int counted = 0;
  for (size_t b = 0; b < medians.size(); ++b)
    if (medians[b] > 0 && others[b] > 0) logarithms += std::log(medians[b]), ++counted;
  return counted > 0 ? std::exp(logarithms / counted) : 0;
}

double typical_of(const std::vector<double>& values, const std::vector<int>& blocks) {
  const std::vector<double> medians = block_medians(values, blocks);
  return mean_where_both(medians, medians);
}

// Where the median of a block measured at another time will lie. Samples of one block resemble each
// other, so their number says little: the blocks are the observations, in logarithms because what
// disturbs a machine multiplies.
SampleInterval next_block_interval(const std::vector<double>& values,
                                   const std::vector<int>& blocks) {
  // Student's t for 95 %, by degrees of freedom from 2 on.
  constexpr double kT[] = {4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  // Of the logarithm of a time: what a machine changes by between one minute and another, beyond
  // what the blocks of one run differ in; and what is assumed where too few blocks say anything.
  constexpr double kSlowChange = 0.03, kUnknownSpread = 0.15;
  SampleInterval out = median_interval(values);
  std::vector<double> logs;
  for (const double m : block_medians(values, blocks))
    if (m > 0) logs.push_back(std::log(m));
  const size_t n = logs.size();
  if (n < 3) {
    out.low = std::min(out.low, out.median * std::exp(-kUnknownSpread));
    out.high = std::max(out.high, out.median * std::exp(kUnknownSpread));
    return out;
  }
  const double count = static_cast<double>(n);
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  double squares = 0;
  for (const double v : logs) squares += (v - mean) * (v - mean);
  const double spread = squares / (count - 1) * (1 + 1 / count) + kSlowChange * kSlowChange;
  const double reach = std::exp(kT[std::min(n - 3, std::size(kT) - 1)] * std::sqrt(spread));
  out.low = std::min(out.low, out.median / reach);
  out.high = std::max(out.high, out.median * reach);
  return out;
}

// Equal values share the mean of their ranks, as Spearman's coefficient wants it.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (size_t k = first; k <= last; ++k)
      ranks[order[k]] = static_cast<double>(first + last) / 2 + 1;
    first = last + 1;
  }
  return ranks;
}

// Pearson's coefficient of the ranks; 0 where one side does not vary, and nothing can be said.
double spearman(const std::vector<double>& x, const std::vector<double>& y) {
  const size_t n = std::min(x.size(), y.size());
  if (n < 2) return 0;
  const std::vector<double> a = ranks_of(x), b = ranks_of(y);
  const double mean = (static_cast<double>(n) + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t k = 0; k < n; ++k) {
    ab += (a[k] - mean) * (b[k] - mean);
    aa += (a[k] - mean) * (a[k] - mean);
    bb += (b[k] - mean) * (b[k] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace exotune
