#pragma once
// Calibration by an executor's machines. Start at calibrate_elsewhere.
//
// Two generations of shards: the kernels' runs and the costs of instructions and lines, each on a
// node of its own; then the fit, on one node that begins with everything they measured, because
// what a fit says is about the machine that measured.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_shard.h"
#include "db/store.h"

namespace exotune::cli {

struct CalibrateElsewhere {
  TargetPtr target;
  std::string target_typed;                  // on the command line
  std::vector<std::string> kernels;          // by name
  std::vector<std::string> parts;            // of "instructions", "lines", "weights"
  std::vector<std::string> measure_options;  // that each shard gets
  std::vector<std::string> fit_options;      // that the last one gets
  bool fresh = false;                        // answers that are there do not count
  std::function<void(const std::string&)> say;
};

/// What the last shard printed; nothing when it was interrupted. Every run and every figure is in
/// the store. Error(kUnavailable) when the executor gave something up.
std::optional<std::string> calibrate_elsewhere(const CalibrateElsewhere& request,
                                               Executor& executor, Store& store);

}  // namespace exotune::cli
