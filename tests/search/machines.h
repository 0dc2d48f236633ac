#pragma once
// Machines and targets that tests of a search name. Start at avx512().
#include <filesystem>
#include <string>

#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

/// The shipped target, whatever this machine runs.
inline TargetPtr avx512() {
  return load_target("avx512", {std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
}

/// A machine of which nothing is known but its name.
inline Machine machine_named(const std::string& microarch) {
  Machine m;
  m.microarch = microarch;
  return m;
}

}  // namespace exotune
