#pragma once
// Carried scalars: what a loop keeps of the iteration before, as a row of values. Start at
// carried_in_rows.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for j: { old = row[j] ; row[j] = f(old, diagonal) ; diagonal = old }
///   ->  t : T[N + 1] ; t[0] = diagonal
///       for j: t[j + 1] = row[j]
///       for j: row[j] = f(row[j], t[j])
///
/// Every scalar that a loop reads before it assigns the next iteration's value, where that value
/// does not need the scalar itself: its values come from a loop of their own, in front
/// (expand_scalar, reorder_stmts, inline_assign, fission), so that what is left is as independent
/// as without the scalar. Rows of dynamic programs that keep one row and a diagonal, differences
/// with the sample before, cells passed on in a pipeline. Nothing: there is no such scalar, or the
/// core refused.
std::optional<Schedule> carried_in_rows(const Schedule& s);

}  // namespace exotune
