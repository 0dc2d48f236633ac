#pragma once
// Guards: what an `if` asks about loops is asked of the loops' bounds instead. Start at
// cut_at_guards.
#include "core/primitives/primitives.h"

namespace exotune {

/// for i in seq(0, n): for d in seq(0, 3): if 0 < i + d and i + d < n + 1: s(i + d - 1)
///   ->  for d in seq(1, 3): s(d - 1)
///       for i in seq(1, n - 1): for d in seq(0, 3): s(i + d - 1)
///       for d in seq(0, 2): s(n + d - 2)
///
/// Loops are cut where the affine conditions inside them change: an outer loop where they become
/// true for all iterations of the loops inside it, if those are most of its own; the innermost loop
/// of a condition exactly. A condition that is then known goes (eliminate_dead_code), with its
/// statements where it is false. Padded borders become strips without guards, triangles told by a
/// guard become loops with bounds, and a loop that leaves a point out (`if i != j`) is the two
/// beside it. Made of cut_loop, each proved; a cut that cannot be proved to
/// lie inside its loop is left out.
///
/// SchedulingError: no condition could be told anywhere.
///
/// Proposed for programs with affine guards, before anything else is done to them.
[[nodiscard]] ProcPtr cut_at_guards(ProcPtr p, const Where& loop);

/// for s in seq(0, 2): for i: { if s == 0: a; else: b(s) ; c }
///   ->  for i: { a ; c } ; for i: { b(1) ; c }
///
/// Phases of a step (Heun, Runge and Kutta; there and back) that a loop of two to four iterations
/// around other loops counts, and conditions tell apart: written out (unroll_loop, simplify), as
/// long as what comes out is no more than 256 statements. SchedulingError: there is no such loop.
///
/// Proposed for every program that has such loops, before anything else.
[[nodiscard]] ProcPtr unroll_phases(ProcPtr p);

}  // namespace exotune
