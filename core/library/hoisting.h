#pragma once
// Loop-invariant code motion: what does not change with a loop stands in front of it.
#include "core/primitives/primitives.h"

namespace exotune {

/// for i: { s1; s2 }  ->  s1 ; for i: s2      where s1 is the same in every iteration
///
/// Allocations, calls and assignments move out in front of the loop, as far as primitives allow
/// (lift_alloc, reorder_blocks, fission, remove_loop); the loop keeps a statement.
ProcPtr hoist_from_loop(ProcPtr p, const Where& loop);

/// The same for the loop at `loop`, and where that stands now: it is the second of the two.
struct Hoisted {
  ProcPtr proc;
  Path loop;
};
Hoisted hoisted_from(ProcPtr p, Path loop);

}  // namespace exotune
