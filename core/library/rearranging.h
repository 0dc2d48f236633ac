#pragma once
// Moving statements and loops about in whole nests, under Exo 2's names: what its Gemmini library
// and its level-1 and level-2 libraries do between tiling and replacing. Made of primitives only.
// Exo 2 appendix B.
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i: s1; s; s2  ->  for i: s1; for i: s; for i: s2   through all loops around, outwards
///
/// Splits the scopes around `stmt` before and after it, as far out as that is allowed: it then
/// stands alone in copies of its loops.
ProcPtr isolate(ProcPtr p, const Where& stmt);

/// for i: s1; for i: s2; for j: t  ->  for i: { s1; s2 }; for j: t
///
/// Fuses neighbouring loops of equal bounds below (and at) `scope`, outer loops first, as often as
/// it is allowed. What may not be fused stays.
ProcPtr fuse_all_loops(ProcPtr p, const Where& scope);

/// for i: s  ->  for i: if i == 0: s
///
/// Of the loops around `stmt`, the nearest that concerns neither it nor the conditions it runs
/// under runs it once; it stays where it is, as far as that is allowed. SchedulingError when every
/// loop concerns it, or it may not be run fewer times.
/// Proposed for an accelerator: what only the first iteration needs.
ProcPtr add_guard(ProcPtr p, const Where& stmt);

/// for j: for i: x[i, j] = e  ->  for i: for j: x[i, j] = e
///
/// Sorts the loops right around an assignment, which hold nothing else, into the order in which its
/// target's indices (or those of the expression given) name them.
ProcPtr reorder_loops_from_idx(ProcPtr p, const Where& access);

/// Unrolls every loop of at most `most` iterations (all of literal bounds when 0) in `block`.
ProcPtr unroll_loops(ProcPtr p, const Where& block, int64_t most);

/// Replaces what `callee` fits, wherever it fits, and inlines those calls again: of a callee that
/// writes configuration and then calls an instruction, these two are left.
ProcPtr replace_and_inline(ProcPtr p, const ProcPtr& callee);

/// The first loop, depth first, inside `outer`; InvalidCursorError when there is none.
Cursor get_inner_loop(const ProcPtr& p, const Where& outer);

}  // namespace exotune
