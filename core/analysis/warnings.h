#pragma once
// What a program may say and hardly means: `check` accepts it, and it is what runs. Start at
// warnings.
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/proc.h"

namespace exotune {

/// Sums, differences and products of 8- or 16-bit integers that may wrap, and whose result is then
/// stored in a wider type: `total += x[i] * x[i]`, where the wide type was meant from the
/// beginning. In the same type: what may wrap before it is divided (words: where a product takes
/// part), before fabs, and before it is compared with a limit of its type: `(a[i] + b[i] + 1) / 2`,
/// `fmin(run + 1, 255)` of unsigned bytes. Not of what cannot wrap: `i16(x[i]) * i16(x[i])` of
/// bytes. In the order of the text, one a statement, each to be printed by `str("warning")`. For
/// procs that `check` accepts. In front of them: loops whose iterator has the name of an argument
/// or of a loop around them.
std::vector<Diagnostic> warnings(const Proc& p);

}  // namespace exotune
