#pragma once
// spelled_nest: a Spec's kind written out as a procedure, the inverse of lift_nest (lift.h). For
// tests, which run both, and for messages. Start at spell_nest.
#include <cstdint>
#include <vector>

#include "core/ir/proc.h"
#include "search/dp/spec.h"

namespace exotune {

/// A proc that computes what the Spec's kind says at these extents, one for each of its loops:
/// operands become arguments `x0`, `x1`, ..., the last one the output, dense and in DRAM. What a
/// kind cannot be lifted from (extents below 1) is the caller's mistake, not checked.
ProcPtr spell_nest(const SpecKind& kind, const std::vector<int64_t>& extents);

}  // namespace exotune
