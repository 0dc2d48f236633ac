#pragma once
// The targets of this repository, and which of them this machine can run.
#include "hw/machine.h"
#include "runners/toolchain.h"

namespace exotune::samples {

inline TargetPtr shipped_target(const std::string& name) {
  return load_target(name, {EXOTUNE_SOURCE_DIR "/hw"});
}

inline bool runs_here(const std::string& name) {
  return supports(probe_machine(), *shipped_target(name));
}

/// The best that runs here; plain C where none does.
inline TargetToolchain widest_toolchain() {
  std::vector<TargetPtr> targets;
  for (const std::string& name : list_targets({EXOTUNE_SOURCE_DIR "/hw"}))
    targets.push_back(shipped_target(name));
  const TargetPtr best = best_target(probe_machine(), targets);
  return best ? toolchain_of(*best) : plain_toolchain();
}

}  // namespace exotune::samples
