#pragma once
// Replacing loops by instructions wherever they fit.
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// Tries every instruction, in order, at every statement of `p`, outermost statements first. What
/// fits none is left as it is.
ProcPtr replace_all(ProcPtr p, const std::vector<ProcPtr>& instrs);
/// As above, only within the block.
ProcPtr replace_all(ProcPtr p, const Where& block, const std::vector<ProcPtr>& instrs);
/// Replaces the one statement at `stmt`, or nothing when no instruction fits.
std::optional<ProcPtr> try_replace_any(const ProcPtr& p, const Cursor& stmt,
                                       const std::vector<ProcPtr>& instrs);

}  // namespace exotune
