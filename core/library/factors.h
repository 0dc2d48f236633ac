#pragma once
// Factors that fewer loops change than the statement they stand in. Start at factors_ahead.
#include "core/primitives/primitives.h"

namespace exotune {

/// for i: for k: for j: C[i, j] += alpha * A[i, k] * B[k, j]
///   ->  alpha_A : T[I, K]
///       for i: for k: alpha_A[i, k] = alpha * A[i, k]
///       for i: for k: for j: C[i, j] += alpha_A[i, k] * B[k, j]
///
/// Loop-invariant code motion into arrays: every largest operation inside the nest (a product, a
/// quotient, a function) that some loop around its statement does not change is computed once, in
/// front of the nest, for the loops that do. What is left is a plain product, with all that can be
/// done to one. A value that has a name in front of the statement, as a converted element has
/// (x_f64 = x[i, k]), is such an operation too. Other statements with some beside them stay. Made
/// of bind_expr, expand_dim, lift_alloc, fission and remove_loop, each proved. Where the array's
/// operand has a dimension for a loop, so has the array. Of a product of three any two may be the
/// operation, (a * b) * c or (c * b) * a or (c * a) * b: the first that can be computed ahead
/// (commute_expr, left_reassociate_expr, which reorder).
///
/// SchedulingError: no operation could be brought ahead.
///
/// Proposed for nests with such operations under three loops or more.
[[nodiscard]] ProcPtr factors_ahead(ProcPtr p, const Where& loop);

}  // namespace exotune
