#pragma once
// Random procs that are in bounds and initialised by construction: every index is taken modulo its
// extent, every allocation is filled before it is used. They reach floor division of negatives,
// guards, windows of windows, calls, casts, wrap-around and narrow floats.
#include <cstdint>
#include <string>

namespace exotune {

/// Text of a module whose last proc is `name`. The proc's control arguments are a (any index), n
/// (1..9) and flag.
std::string random_module(uint64_t seed, const std::string& name);

}  // namespace exotune
