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

}  // namespace exotune
