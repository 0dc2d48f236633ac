#pragma once
// open_nests: what a user's lines left to a search: the loop nests without instructions that are
// not pinned. Start at open_nests.
#include <vector>

#include "core/cursor/cursor.h"

namespace exotune {

/// The outermost open nests in `block` (a block or a statement), in program order. A nest is open
/// that computes something, holds no instruction or vector memory yet, and no pin; a nest that a
/// tile size cut in two is two.
std::vector<Cursor> open_nests(const Cursor& block, const std::vector<Cursor>& pins);

/// Iterations of the nest at the cursor, by all of the loops around it: what share of the time it
/// is worth. A loop whose extent is a size counts as a guess.
double work_at(const Cursor& nest);

}  // namespace exotune
