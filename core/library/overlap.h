#pragma once
// Work that starts earlier than the program says, so that a device's units run side by side: sums
// that begin inside their first product, and loads one iteration ahead. Start at run_ahead.
#include "core/primitives/primitives.h"

namespace exotune {

/// for i: x[i] = 0 ; for k: { s; for i: for l: x[i] += e }        with the nest `for i: for l: ..`
///   ->  for k: { s; if k == 0: for i: { x[i] = 0; for l: x[i] += e }
///                   else: for i: for l: x[i] += e }
///
/// What stands in `init` moves into the first iteration of the sum's loops and is fused with
/// `nest`, the part of the sum that an instruction does: one that overwrites does both, and nothing
/// has to begin the sums apart. Loops of results around the nest are fused on the way. Made of
/// add_loop, fuse, lift_scope, specialize and eliminate_dead_code, each proved. SchedulingError:
/// `init` and `nest` have no block in common, a loop in between does not start at 0, or a step is
/// refused.
/// Proposed for an accelerator whose text has a product that overwrites.
[[nodiscard]] ProcPtr begin_sums(ProcPtr p, const Where& init, const Where& nest);

/// for i in seq(0, n): { s(i); t(i) }
///   ->  s(0) ; for i in seq(0, n - 1): { s(i + 1); t(i) } ; t(n - 1)
///
/// `gap` stands between s and t. What s brings is there when t begins: a device loads the next tile
/// while it works on this one (double buffering; the buffers must have room for both). Made of
/// fission, cut_loop, shift_loop, fuse and unroll_loop, each proved. SchedulingError: the loop's
/// bounds are no literals from 0, it runs once only, or a step is refused: s writes what an earlier
/// t reads.
/// Proposed for an accelerator: the loads in front of a sum.
[[nodiscard]] ProcPtr run_ahead(ProcPtr p, const Where& gap);

}  // namespace exotune
