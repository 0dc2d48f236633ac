#pragma once
// Arrays that each iteration of a loop makes anew: one for each iteration, so that what makes them
// is a nest of its own. Start at with_own_arrays.
#include "search/moves/step.h"

namespace exotune {

/// for q: { for p: { x[p] = 0 ; for k: x[p] += .. } ; for p: .. x[p] .. }
///   ->  own : T[Q, P]
///       for q: for p: { own[q, p] = 0 ; for k: own[q, p] += .. }
///       for q: for p: .. own[q, p] ..
///       for q: for p: x[p] = own[q, p]
///
/// For the innermost loop that sets an array it does not move along, in front of everything that
/// reads it, and holds several nests: a row at a time is a product of a vector, all of them one of
/// a matrix (auto_stage_mem, expand_dim, lift_alloc, fission). What is left in the array is stored
/// again and again, one element for a whole sum. Nothing: there is no such loop, or the core
/// refused to take the nests apart.
std::optional<Schedule> with_own_arrays(const Schedule& s);

}  // namespace exotune
