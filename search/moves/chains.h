#pragma once
// Chains: values that run from one iteration of a loop to the next, in a loop of their own. Start
// at chains_apart.
#include <optional>

#include "search/moves/panels.h"
#include "search/moves/step.h"

namespace exotune {

/// for j: { a = 0.9 * a + exp(x[j]) ; y[j] = sqrt(a) * w[j] }
///   ->  a_in, a_then : T[N]
///       for j: a_in[j] = exp(x[j])
///       for j: { a = 0.9 * a + a_in[j] ; a_then[j] = a }
///       for j: y[j] = sqrt(a_then[j]) * w[j]
///
/// For every loop around statements alone whose iterations must come in their order because of some
/// of them: what these need of others comes ahead of them, what only reads their values behind
/// (bind_expr, expand_dim, lift_alloc, reorder_stmts, fission); so does what reads a value before
/// it changes. What is left of the chain is a few operations, the others can be vectors. A long
/// loop comes apart in strips whose arrays are a quarter of the nearest cache. Nothing: there is no
/// such loop with work beside its chain, or the core refused. What comes ahead has
/// `least_operations` at least.
std::optional<Schedule> chains_apart(const Schedule& s, const NearestCaches& caches,
                                     int least_operations = 2);

}  // namespace exotune
