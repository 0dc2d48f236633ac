#pragma once
// What multiplies a sum goes into it.
// How to read an entry: core/primitives/primitives.h.
#include "core/primitives/where.h"

namespace exotune {

/// t = 0.0 ; for k: t += e[k] ; y[i] += c * t   ->   for k: y[i] += c * e[k]
/// t = 0 ; for k: t += e[k] ; u : f32 ; u = t ; y[i] += c * u
///   ->   for k: { u : f32 ; u = e[k] ; y[i] += c * u }
/// `sum` is the last of these statements; there may be several loops around the sum, no factor or
/// several. The allocation of t stays, with nobody to use it (delete_buffer).
/// Obligation: they stand one after another; t and u are allocated in the procedure, have no
/// indices and are used nowhere else; the loops hold nothing but the sum and are sequential;
/// neither the factors nor what is summed read y's buffer, and no factor, index or bound reads
/// configuration; all are floating-point numbers of one type. Where a sum of integers is converted
/// it does not wrap around: its loops have literal extents, and so many of the greatest values that
/// types and assignments give e are one of t's type. The sum is reordered.
/// Forwarding: the loops and their sum keep their cursors, the other statements go.
/// Proposed for sums of groups with a factor each.
[[nodiscard]] ProcPtr distribute_factor(ProcPtr p, const Where& sum);

}  // namespace exotune
