#pragma once
// The roof of memory: moving as many bytes as a kernel has to, and nothing else. Start at
// make_memory_roof.
#include <cstdint>
#include <string>

#include "runners/roof.h"

namespace exotune {

/// What one call of a kernel has to move, in bytes, by what becomes of the arrays they lie in.
struct Traffic {
  double read = 0;     // come in
  double written = 0;  // go out; what was there is not wanted
  double updated = 0;  // do both, in place
  double footprint() const { return read + written + updated; }
  double moved() const { return read + written + 2 * updated; }
};

/// A pass over three arrays of that size, vector by vector side by side: one is read, one written,
/// one both. They lie where the kernel's own lie from one call to the next: in the nearest cache
/// that holds them. Arrays that no cache holds are written past the caches, by compilers that can,
/// and stand for larger ones beyond some hundred megabytes: Roof::work says what is moved. Throws
/// as compile_roof does. Nothing is moved (`work` 0): the roof would be that of a call.
Roof make_memory_roof(const TargetToolchain& toolchain, const Traffic& traffic,
                      const std::string& directory);

}  // namespace exotune
