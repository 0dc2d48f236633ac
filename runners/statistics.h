#pragma once
// The few statistics of measuring: medians and distribution-free intervals.
#include <vector>

namespace exotune {

struct SampleInterval {
  double median = 0, low = 0, high = 0;
};

/// The median, NaNs left out; 0 when nothing is left.
double median_of(std::vector<double> values);

/// The median and its 95 % interval by order statistics (binomial); minimum and maximum below six
/// values. NaNs are left out.
SampleInterval median_interval(std::vector<double> values);

/// Ranks from 1 in ascending order; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values);

/// Spearman's rank correlation, in [-1, 1]: the linear correlation of the ranks. 0 with fewer than
/// two values or when all of one side are equal. Both sides have the same length.
double spearman(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace exotune
