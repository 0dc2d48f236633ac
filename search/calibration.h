#pragma once
// Calibration: the cost model's weights fitted to runs on this machine. Start at calibrate.
//
// Draws schedules of each kernel at random, good and bad, proves and measures them like any trial
// (they go into the store, so an interrupted calibration goes on where it stopped), fits the
// weights, and judges the fit by runs that it was not made from.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"
#include "search/judgement.h"

namespace exotune {

/// One kernel to draw schedules of.
struct CalibrationKernel {
  KernelEntry kernel;
  ProcPtr proc;                    // unscheduled
  std::vector<SizeBinding> sizes;  // each one fixed
};

struct CalibrationRequest {
  std::vector<CalibrationKernel> kernels;
  TargetPtr target;
  Machine machine;
  int draws = 240;             // schedules per kernel, over all of its sizes
  double held_back = 0.4;      // share of the runs that judge a fit to the others
  int splits = 10;             // times that other runs are held back
  int passes = 3;              // over all runs of a size; the least time counts
  std::vector<Term> without;   // terms switched off, to see what they are worth
  Deadline deadline;           // for everything; the user's wish to stop is part of it
  double timeout_seconds = 2;  // per candidate
  int jobs = 2;                // compilers at once
  uint64_t seed = 1;           // of the schedules and of what is held back
  bool fresh = false;          // measure again what the store already holds
  bool fit = true;             // false: the runs alone
  std::string work_directory;  // "" = temporary
};

struct CalibrationResult {
  CostWeights before, after;               // without a fit, and what was fitted
  std::vector<CalibrationSample> samples;  // the runs, with what was predicted for each
  std::vector<KernelSpread> kernels;       // how well the order of each kernel's runs was told
  double ghz = 0;                          // cycles per nanosecond while measuring
  int drawn = 0, refused = 0;              // schedules; those the core refused
  int measured = 0, reused = 0;            // runs made now; runs found in the store
  std::map<std::string, int> causes;       // of runs that were not ok
  bool interrupted = false, out_of_budget = false;
};

struct CalibrationHooks {
  std::function<void(const std::string& what, int done, int planned)> progress;  // may be empty
};

/// Keeps the weights fitted to all runs in the store unless it was interrupted; not for operations
/// whose held-back runs a fit orders worse than no fit does. Error(kUnavailable) when the
/// target cannot run here, Error(kNoCandidate) when no run was ok and nobody asked to stop.
CalibrationResult calibrate(const CalibrationRequest& request, Store& store,
                            const CalibrationHooks& hooks = {});

}  // namespace exotune
