#pragma once
// Conditions made, decided and dropped; control arithmetic made simple.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// s  ->  if c0: s  elif c1: s'  ...  else: s''
/// Obligation: the conditions are control booleans over names visible there; nothing that s
/// allocates is used after it; what s writes to configuration stays known.
/// Forwarding: cursors into s go to the first branch.
/// Proposed for kernels of any size: two schedules, each for its sizes.
[[nodiscard]] ProcPtr specialize(ProcPtr p, const Where& block,
                                 const std::vector<ExprPtr>& conditions);

/// if e: s else: t            ->  s    (e proved true)      or  t  (e proved false)
/// for i in seq(lo, hi): s    ->  nothing                   (hi <= lo proved)
/// Obligation: as said; refused otherwise. What is written to configuration stays known.
/// Forwarding: the statements of the branch kept stay.
/// Proposed where a window that may be empty was staged: what is left without it.
[[nodiscard]] ProcPtr eliminate_dead_code(ProcPtr p, const Where& stmt);

/// if e: s  ->  s
/// Obligation: where e is false, s writes only floating-point elements of allocations, and none
/// that is read (by what s does where e holds, or elsewhere); the result is accepted as a program.
/// Forwarding: the statements of s stay.
[[nodiscard]] ProcPtr remove_guard(ProcPtr p, const Where& guard);

/// x[(8*io + ii) / 8]  ->  x[io]      where 0 <= ii < 8
/// Every control expression in its simplest form under the facts known there; an `if` whose
/// condition folds to a constant becomes its branch; a loop with constant bounds that never runs
/// goes. Loops that run once stay (unroll_loop removes them). Obligation: none beyond the facts
/// used; what is written to configuration stays known. Forwarding: what remains stays.
/// Proposed for accelerators, between steps.
[[nodiscard]] ProcPtr simplify(ProcPtr p);  // whole proc
[[nodiscard]] ProcPtr simplify(ProcPtr p, const Where& block);

}  // namespace exotune
