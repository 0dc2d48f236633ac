#pragma once
// Parts: the nests of a program that can be searched one by one. Start at parts_of.
#include <vector>

#include "core/cursor/cursor.h"

namespace exotune {

/// Is the statement a loop, or one inside it?
bool holds_loop(const StmtPtr& s);
/// The loop that is all there is in a loop's body; null where there is more, or something else.
const For* only_loop_in(const For& f);

/// The nests of the procedure, in program order: every outermost loop that may change places with
/// what is inside it. A loop whose iterations must come in their order (time steps, the steps of a
/// factorization) is walked into, as are conditions, and loops around several nests, but for those
/// within others whose iterations touch elements side by side: these are vectors of all that.
std::vector<Cursor> parts_of(const ProcPtr& p);

/// Is the nest all that the procedure computes in loops?
bool is_whole(const ProcPtr& p, const std::vector<Cursor>& parts);

}  // namespace exotune
