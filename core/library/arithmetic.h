#pragma once
// Arithmetic that takes less time and is equal over the reals: powers as products, what is divided
// by one divisor, what a block computes twice. Made of primitives only.
#include "core/primitives/primitives.h"

namespace exotune {

/// y = pow(x - m, 5.0)  ->  b = x - m; s = b * b; s4 = s * s; y = s4 * b
///
/// Every power with an exponent that the program says becomes products, roots and quotients
/// (expand_power), after its base got a name of its own (bind_expr) where it is computed and read
/// more than once. SchedulingError: there is none.
///
/// Proposed for every program that has such powers, before anything else: the function takes as
/// long as twenty products.
[[nodiscard]] ProcPtr powers_as_products(ProcPtr p);

/// a = x / d; b = y / d  ->  over = 1.0 / d; a = x * over; b = y * over
/// a = exp(x) + 1.0; b = exp(x)  ->  shared = exp(x); a = shared + 1.0; b = shared
///
/// In every block: quotients by one divisor become products with its reciprocal
/// (multiply_by_reciprocal), and each quotient, root or other function that takes long and that the
/// block computes more than once is computed once (bind_expr), where nothing it reads is written in
/// between. A divisor that is the same in all iterations has its reciprocal in front of a loop of
/// up to eight, and is left to take_reciprocals in a longer one. SchedulingError: there is nothing
/// of the kind.
///
/// Proposed for every program that has such operations, before anything else.
[[nodiscard]] ProcPtr share_operations(ProcPtr p);

/// y = a * b + c * d + k  ->  y = k + a * b + c * d
///
/// Every sum of floats that begins with two products begins with the first of its terms that is
/// none and is added (commute_expr, left_reassociate_expr, which reorder): each product is then
/// added by one fused instruction. SchedulingError: there is no such sum.
///
/// Proposed for every program that has such sums, before anything else.
[[nodiscard]] ProcPtr lead_with_terms(ProcPtr p);

/// count += select(2.0, x[i], 1.0, 0.0)  ->  one : i32; one = select(..); count += one
///
/// Whatever a reduction of integers adds of another type is converted by a statement of its own
/// (bind_converted): vectors convert, and then add.
///
/// n = select(x[i], 0, 0, 1)  ->  x_wide : i32; x_wide = x[i]; n = select(x_wide, 0, 0, 1)
///
/// What integers of a narrower type are chosen from for a wider one (select, fmax, fmin of elements
/// and literals, nothing computed) is converted first (bind_expr, set_precision): vectors have one
/// width. SchedulingError: there is nothing of the kind.
///
/// Proposed for every program that has such sums and choices, before anything else.
[[nodiscard]] ProcPtr convert_ahead(ProcPtr p);

}  // namespace exotune
