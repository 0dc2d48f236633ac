#pragma once
// Tidying after other operators. Made of primitives only; the names are Exo 2's.
#include "core/primitives/primitives.h"

namespace exotune {

/// if c: s1 else: s2  ->  s1, wherever c is decided; loops that never run, buffers that nothing
/// reads or writes, and `pass` disappear.
ProcPtr dce(ProcPtr p);

/// simplify, dce, and `for i in seq(c, c + 1): s  ->  s[i -> c]`.
ProcPtr cleanup(ProcPtr p);

/// f(x, y[i, :])  ->  the body of f, of x and y[i, :]        w = y[i, :]; w[j]  ->  y[i, j]
///
/// Every call of a procedure that is no instruction, and the calls in what comes of it (inline),
/// with names of their own where the caller has these names, too; then windows that have a name
/// (inline_window). SchedulingError: there are none, or it would be more than a thousand.
///
/// Proposed for every program that has them, before anything else: loops of a callee are vectors,
/// or stand inside of them, only where the caller's are seen beside them.
[[nodiscard]] ProcPtr inline_calls(ProcPtr p);

}  // namespace exotune
