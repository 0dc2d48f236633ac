#pragma once
// Point scalars: the few elements that an array of one iteration has, as scalars. Start at
// points_in_scalars.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for p: { v : T[3] ; for c in seq(0, 3): v[c] = f(c, p) ; x[p] = g(v[0], v[1], v[2]) }
///   ->  for p: { v_0 : T ; v_1 : T ; v_2 : T ; v_0 = f(0, p) ; .. ; x[p] = g(v_0, v_1, v_2) }
///
/// For every array of at most sixteen elements that is made in a loop, where the loops around its
/// elements are short and hold no long one: those are written out (unroll_loop, simplify), and with
/// them the innermost ones of at most four iterations beside them; indices such as (c + 1) % 3 are
/// numbers then, and the array comes apart (unroll_buffer). Vectors along the loop over points then
/// have scalars for lanes. Nothing: there is no such array, the core refused, or what is written
/// out would be long.
std::optional<Schedule> points_in_scalars(const Schedule& s);

}  // namespace exotune
