#pragma once
// Vector registers that a loop's body needs at once. Start at register_pressure.
#include <map>
#include <set>

#include "core/ir/proc.h"

namespace exotune {

/// In the body's own statements: those of `outside` that it mentions, and its own from the first to
/// the last statement that mentions them. `registers`: how many each buffer takes.
double register_pressure(const For& f, const std::map<Sym, double>& registers,
                         const std::set<Sym>& outside);

}  // namespace exotune
