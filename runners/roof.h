#pragma once
// Roofs: loops that do nothing but what bounds a kernel, to run in turn with it. Start at Roof;
// machine_peak.h makes those of arithmetic, memory_roof.h those of memory.
#include <cstdint>
#include <string>

#include "runners/toolchain.h"

namespace exotune {

struct Roof {
  std::string library;  // a shared object with `double roof(int64_t steps, double seed)`
  int64_t steps = 0;    // of one call
  double work = 0;      // of one call on one core: operations, or bytes moved
  bool of_memory = false;
};

/// The C text as such a library in `directory`, where it stays. `ROOF { .. }` is the function; the
/// text has vectors of BYTES bytes: Words of 64-bit integers, and W of those that begin anywhere.
/// Throws Error(kUnavailable) when the CPU lacks what the toolchain's code needs, or the compiler
/// fails.
std::string compile_roof(const TargetToolchain& toolchain, const std::string& source,
                         const std::string& directory);

}  // namespace exotune
