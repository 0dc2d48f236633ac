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

/// Values that were taken in blocks (each a process of its own), in order: their median, and where
/// the median of one more such block is found 19 times of 20. What differs between processes
/// (addresses, pages, the clock of the minute) does not average out within one, so the blocks'
/// medians tell (Student's t of their logarithms), with a floor of 3 % for what changes more slowly
/// than the blocks. Fewer than three blocks tell nothing of that: 15 % either way then, what five
/// give half of the time. Never narrower than median_interval.
/// Values are positive or NaN; `blocks` holds how many values each block has.
SampleInterval next_block_interval(const std::vector<double>& values,
                                   const std::vector<int>& blocks);

/// The median of each block of `values`; 0 where all of one's are NaN. O(n log n).
std::vector<double> block_medians(const std::vector<double>& values,
                                  const std::vector<int>& blocks);

/// The geometric mean of those of `medians` that are positive, where `others` are, too; 0 for none.
/// Both have the same length.
double mean_where_both(const std::vector<double>& medians, const std::vector<double>& others);

/// The geometric mean of the blocks' medians: blocks are places of their own, and those in the
/// middle are not all there are.
double typical_of(const std::vector<double>& values, const std::vector<int>& blocks);

/// Ranks from 1 in ascending order; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values);

/// Spearman's rank correlation, in [-1, 1]: the linear correlation of the ranks. 0 with fewer than
/// two values or when all of one side are equal. Both sides have the same length.
double spearman(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace exotune
