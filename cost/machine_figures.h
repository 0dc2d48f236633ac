#pragma once
// What counting features needs of a target and the machine it runs on. Start at cost_machine.
#include "cost/target_figures.h"
#include "cost/terms.h"
#include "hw/target.h"

namespace exotune {

/// `levels`: the target's, with the sizes of this machine's caches (Machine::levels_of). `figures`
/// outrank the text.
CostMachine cost_machine(const Target& target, const std::vector<TargetLevel>& levels,
                         const TargetFigures& figures = {});

}  // namespace exotune
