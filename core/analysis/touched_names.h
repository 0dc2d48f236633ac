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

/// Do the first `split` statements of the loop's body in one iteration, and the others in another
/// one, write nothing that the other group touches? So where they share only buffers that both
/// reach by one index in some dimension, which moves with the iteration and nothing else: x[l, 0]
/// and x[l, k], never x[l] and x[l + 1]. Knows nothing of configuration, windows and what calls are
/// passed: false then. `scope` is that of the body. Cost: linear in the statements.
bool iterations_touch_apart(const Scope& scope, const For& loop, size_t split);

/// Of the statements at `places` of the loop's body, those that may be the same in every iteration
/// as far as names say: no statement that stays writes a buffer that they read or write whole (a
/// scalar, a register passed with all its elements). Cost: linear in the body for each that drops
/// out; saves whoever moves statements out of loops a proof for each that cannot go.
std::vector<int> not_rewritten(const Proc& p, const Path& loop, const std::vector<int>& places);

}  // namespace exotune
