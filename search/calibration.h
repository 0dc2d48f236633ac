#pragma once
// Calibration: the cost model's weights fitted to runs on this machine. Start at calibrate.
//
// Draws schedules of each kernel at random, good and bad, proves and measures them like any trial
// (they go into the store, so an interrupted calibration goes on where it stopped), fits the
// weights to a part of them, and judges the model on the part held back.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cost/terms.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

struct CalibrationKernel {
  KernelEntry kernel;
  ProcPtr proc;                    // unscheduled
  std::vector<SizeBinding> sizes;  // each one fixed
};

struct CalibrationRequest {
  std::vector<CalibrationKernel> kernels;
  TargetPtr target;
  Machine machine;
  int draws = 240;            // schedules per kernel, over all of its sizes
  double held_back = 0.4;     // share of the runs that judge the fit
  int passes = 3;             // over all runs of a size; the least time counts
  std::vector<Term> without;  // terms switched off
  double time_budget_seconds = 600;
  double timeout_seconds = 2;  // per candidate
  int jobs = 2;                // compilers at once
  uint64_t seed = 1;           // of the schedules and of what is held back
  bool fresh = false;
  std::string work_directory;  // "" = temporary
};

/// One measured run.
struct CalibrationSample {
  std::string kernel, operation;  // sgemv_n does the operation gemv
  std::string sizes, candidate_id, script;
  Features features;
  double cycles = 0;      // measured
  double operations = 1;  // of the kernel at these sizes
  bool held_back = false;
  double before = 0, after = 0;  // predicted cycles
};

/// How well the model orders the held-back runs of one kernel, or of all kernels of one operation.
struct KernelCorrelation {
  std::string kernel;
  int fitted = 0, held_back = 0;
  /// Spearman's rank correlation between predicted and measured cycles per operation.
  double before = 0, after = 0;
  /// The mean of the correlations within each of the sizes that have five held-back runs or more.
  double within_before = 0, within_after = 0;
  /// Half of the runs are predicted within this factor.
  double factor_before = 0, factor_after = 0;
};

struct CalibrationResult {
  CostWeights before, after;
  std::vector<CalibrationSample> samples;
  std::vector<KernelCorrelation> kernels;
  double ghz = 0;              // cycles per nanosecond while measuring
  int drawn = 0, refused = 0;  // schedules; those the core refused
  int measured = 0, reused = 0;
  std::map<std::string, int> causes;  // of runs that were not ok
  bool interrupted = false, out_of_budget = false;
};

struct CalibrationHooks {
  std::function<void(const std::string& what, int done, int planned)> progress;  // may be empty
  std::function<bool()> interrupted;
};

/// Keeps the fitted weights in the store unless it was interrupted. Error(kUnavailable) when the
/// target cannot run here, Error(kNoCandidate) when no run was ok.
CalibrationResult calibrate(const CalibrationRequest& request, Store& store,
                            const CalibrationHooks& hooks = {});

/// Judges both sets of weights on the samples and fills in their predictions.
std::vector<KernelCorrelation> judge_weights(std::vector<CalibrationSample>& samples,
                                             const CostWeights& before, const CostWeights& after);

}  // namespace exotune
