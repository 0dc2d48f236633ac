#pragma once
// Vector registers that a loop's body needs at once. Start at register_pressure.
#include <map>
#include <set>

#include "core/ir/proc.h"

namespace exotune {

/// In the body's own statements: those of `outside` whose values it needs from before, and every
/// value that it computes, from the statement that writes it to the last that reads it. An
/// instruction that overwrites a whole register begins a new value. `registers`: how many each
/// buffer takes.
double register_pressure(const For& f, const std::map<Sym, double>& registers,
                         const std::set<Sym>& outside);

}  // namespace exotune
