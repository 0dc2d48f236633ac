#pragma once
// What multiplies a sum goes into it.
// How to read an entry: core/primitives/primitives.h.
#include "core/primitives/where.h"

namespace exotune {

/// t = 0.0 ; for k: t += e[k] ; y[i] += c * t   ->   for k: y[i] += c * e[k]
/// `sum` is the last of these statements; there may be several loops around the sum, no factor or
/// several. The allocation of t stays, with nobody to use it (delete_buffer).
/// Obligation: the three stand one after another; t is allocated in the procedure, has no indices
/// and is used nowhere else; the loops hold nothing but the sum and are sequential; neither the
/// factors nor what is summed read y's buffer, and no factor, index or bound reads configuration;
/// all are floating-point numbers of one type. The sum is reordered.
/// Forwarding: the loops and their sum keep their cursors, the other two statements go.
/// Proposed for sums of groups with a factor each.
[[nodiscard]] ProcPtr distribute_factor(ProcPtr p, const Where& sum);

}  // namespace exotune
