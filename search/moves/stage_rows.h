#pragma once
// Stage rows: nests that make arrays for one another run through the rows together. Start at
// stages_by_rows.
#include <vector>

#include "search/moves/step.h"

namespace exotune {

/// t : T[h + 2, w]
/// for y: for x: t[y, x] = f(..) ; for y: for x: out[y, x] = g(t[y : y + 3, x])
///   ->  t : T[4, w] ; for y in seq(0, 2): for x: t[y, x] = ..
///       for y: { for x: t[(y + 2) % 4, x] = .. ; for x: out[y, x] = .. }
///
/// What one nest makes is read while it is near, each element made once. The last nest is
/// the consumer, if it writes an argument; one of its loops becomes the outermost (reorder_loops),
/// and every earlier nest at the top whose result it reads along that loop, directly or through
/// others, is computed at it (compute_at, sliding: halos are inferred). Arrays of the procedure
/// shrink to what an iteration needs (store_at) or to a ring of rows (resize_dim); each step is
/// proved. One schedule for each loop that brings a nest inside, the outermost first; none: no such
/// nests. In front of it one more where the consumer reads single elements of such an array: these
/// are made where they are read, and its loops over a few planes are written out there
/// (unroll_loop):
///   for y: for x: { t = .. ; out[0, y, x] = g(t, ..) ; out[1, y, x] = g(t, ..) }
std::vector<Schedule> stages_by_rows(const Schedule& s);

}  // namespace exotune
