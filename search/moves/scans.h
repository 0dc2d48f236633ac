#pragma once
// Scans: running sums, maxima and minima by vectors. Start at scans_in_vectors.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for j: { a += x[j] ; y[j] = a }
///   ->  for jo: scan(a, y[16 * jo:16 * jo + 16], x[16 * jo:16 * jo + 16]) ; what is left over
///
/// for j: { a = 0.9 * a + x[j] ; y[j] = a }
///   ->  c = 0.9 ; for jo: decay(a, c, y[16 * jo:16 * jo + 16], x[16 * jo:16 * jo + 16]) ; ..
///
/// Every loop around statements alone that is what one of `instructions` does in a loop whose
/// iterations come in their order: cut to its length (divide_loop) and replaced; a factor that
/// stays gets a name in front (bind_expr). Nothing: there is no such loop, or no such instruction.
std::optional<Schedule> scans_in_vectors(const Schedule& s, const ValueList& instructions);

}  // namespace exotune
