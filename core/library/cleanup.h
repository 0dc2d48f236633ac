#pragma once
// Tidying after other operators. Made of primitives only; the names are Exo 2's.
#include "core/primitives/primitives.h"

namespace exotune {

/// if c: s1 else: s2  ->  s1, wherever c is decided; loops that never run, buffers that nothing
/// reads or writes, and `pass` disappear.
ProcPtr dce(ProcPtr p);

/// simplify, dce, and `for i in seq(c, c + 1): s  ->  s[i -> c]`.
ProcPtr cleanup(ProcPtr p);

}  // namespace exotune
