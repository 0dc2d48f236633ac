#pragma once
// Arrays of which each iteration of a nest uses its own element only: the element, inside. Start at
// with_storage_inside.
#include "search/moves/step.h"

namespace exotune {

/// t : R[N, M] ; for i: for j: { t[i, j] = 0 ; for k: t[i, j] += .. ; y[i, j] = f(t[i, j]) }
///   ->  for i: for j: { t : R ; t = 0 ; for k: t += .. ; y[i, j] = f(t) }
///
/// What nests that became one made for each other then stays in a register, and a sum that had an
/// array of its own is one of a register tile. For each array allocated at the top that one nest
/// alone uses, in the innermost loop that it fits (store_at: proved). A schedule without steps of
/// its own: there is none.
Schedule with_storage_inside(const Schedule& s);

}  // namespace exotune
