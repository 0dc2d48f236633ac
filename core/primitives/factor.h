#pragma once
// Sums of products taken apart: what some of the factors sum to, once, ahead.
// How to read an entry: core/primitives/primitives.h.
#include <string>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// for i: for j: for k: x[i] += A[i, j] * B[j, k] * C[k]       factors B and C, name t
///   ->  t : T[J]
///       for j: { t[j] = 0.0; for k: t[j] += B[j, k] * C[k] }
///       for i: for j: x[i] += A[i, j] * t[j]
/// A factor is called by its buffer, or, where another factor reads that too, `C[k]`.
/// The loops hold nothing but one sum. Those that neither the element nor the other factors mention
/// are summed over ahead; of the others, the ones that the factors mention are the axes of t, last
/// those that are in the last subscript of one.
/// Obligation: the loops begin at 0, are sequential, their bounds are free of each other's
/// iterators and of configuration, and those that t is made by surely run; no factor reads the
/// buffer that is summed into; all are floating-point numbers of its type; the factors' elements
/// exist wherever t needs them. The sum is reordered.
/// Forwarding: the loops that stay keep their cursors, those that are summed over go; allocation
/// and fill stand before the outermost.
[[nodiscard]] ProcPtr factor_sum(ProcPtr p, const Where& nest, const std::string& name,
                                 const std::vector<std::string>& factors);

}  // namespace exotune
