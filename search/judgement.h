#pragma once
// How well weights order runs that they were not fitted to. Start at judge_weights; one split of
// the runs says little (some hundredths either way), so several are judged and summarised.
#include <string>
#include <vector>

#include "cost/terms.h"

namespace exotune {

/// One measured run.
struct CalibrationSample {
  std::string kernel, operation;  // sgemv_n does the operation gemv
  std::string sizes, candidate_id, script;
  Features features;
  double cycles = 0;             // measured
  double operations = 1;         // of the kernel at these sizes
  bool held_back = false;        // in the split that is judged
  double before = 0, after = 0;  // predicted cycles
};

/// How well the model orders the held-back runs of one kernel, or of all kernels of one operation.
struct KernelCorrelation {
  std::string kernel;
  std::string operation;  // that the row has all runs of; "" when other rows have some too
  int fitted = 0, held_back = 0;
  /// Spearman's rank correlation between predicted and measured cycles per operation.
  double before = 0, after = 0;
  /// The mean of the correlations within each of the sizes that have five held-back runs or more.
  double within_before = 0, within_after = 0;
  /// Half of the runs are predicted within this factor.
  double factor_before = 0, factor_after = 0;
};

/// Judges both sets of weights on the samples and fills in their predictions.
std::vector<KernelCorrelation> judge_weights(std::vector<CalibrationSample>& samples,
                                             const CostWeights& before, const CostWeights& after);

/// Of several splits.
struct Spread {
  double median = 0, least = 0;
};

struct KernelSpread {
  std::string kernel, operation;
  int runs = 0, held_back = 0;  // of all, and of a split: the median
  Spread before, after, within_before, within_after;
  double factor_before = 0, factor_after = 0;  // medians
  /// The median over the splits of what the fit added to the rank correlation.
  double gain = 0;

  /// All runs of an operation, which the fit orders worse than no fit does.
  bool worse() const { return !operation.empty() && gain < 0; }
};

/// `splits`: what judge_weights said of each, on the same samples.
std::vector<KernelSpread> summary_of(const std::vector<std::vector<KernelCorrelation>>& splits);

/// Puts `share` of the samples aside, others for every `seed`; the same ones for the same seed.
void split_samples(std::vector<CalibrationSample>& samples, double share, uint64_t seed);

}  // namespace exotune
