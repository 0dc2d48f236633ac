#pragma once
// Factors and terms: sums of products brought to the form C += A * B that register tiles are for.
// Start at with_factors_ahead.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// C[i, j] += alpha * A[i, k] * B[k, j]  ->  alpha_A[i, k] = alpha * A[i, k] in a nest of its own,
/// C[i, j] += alpha_A[i, k] * B[k, j]     (factors_ahead, at every nest of three loops or more)
///
/// Nothing: there are none, or the core refused.
std::optional<Schedule> with_factors_ahead(const Schedule& s);

/// C[i, j] += A[i, k] * B[j, k] + B[i, k] * A[j, k]  ->  C[i, j] += A[i, k] * B[j, k] in a nest of
/// its own, then C[i, j] += B[i, k] * A[j, k]     (split_write, fission)
///
/// At every nest of three loops or more around one such sum: two operands in registers instead of
/// four, for a second pass over C. Nothing: there are none, or the core refused.
std::optional<Schedule> with_terms_apart(const Schedule& s);

/// t = 0.0 ; for k: t += A[i, g, k] * B[g, k, j] ; C[i, j] += s[g, j] * t
///   ->  for k: C[i, j] += s[g, j] * (A[i, g, k] * B[g, k, j])     (distribute_factor)
///
/// Wherever a scalar's sum is added to something in a loop: sums of groups, each with a factor of
/// its own, become one sum over groups and terms. Nothing: there are none, or the core refused.
std::optional<Schedule> with_factors_inside(const Schedule& s);

}  // namespace exotune
