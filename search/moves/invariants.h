#pragma once
// Invariants: arrays, and scalars that are expensive, that each iteration of a loop computes anew
// and alike. Start at invariants_in_front.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for r: { t[0:N] = f(..) ; x[r] = g(t) }  ->  t[0:N] = f(..) ; for r: x[r] = g(t)
///
/// where f knows nothing of r: coefficients that all right sides of a tridiagonal system have in
/// common, windows and twiddle factors (expand_dim, lift_alloc, reorder_stmts, fission,
/// remove_loop). A scalar that changes with an inner loop alone and takes a function or a quotient
/// becomes an array of that loop, and so does such a part of an expression (bind_expr). For every
/// loop, the outer ones first; nothing: there is no such array, or the core refused.
std::optional<Schedule> invariants_in_front(const Schedule& s);

}  // namespace exotune
