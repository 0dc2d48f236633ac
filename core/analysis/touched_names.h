#pragma once
// Touched names: which buffers statements read and write, as far as names say it. What has no
// buffer in common needs no proof. Start at touch_apart.
#include "core/analysis/scope.h"

namespace exotune {

/// Does neither of the `na` statements at `first` of the block and the `nb` ones after them write a
/// buffer that the other touches, with windows resolved in `scope`, and do they know nothing of
/// configuration? False also where windows are made among them. Cost: linear in the statements;
/// the summaries of callees are kept (effects_of_callee).
bool touch_apart(const Scope& scope, const Block& block, size_t first, size_t na, size_t nb);

}  // namespace exotune
