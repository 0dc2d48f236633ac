#pragma once
// What a target's vector instructions ask for the operations of a nest: the roof that arithmetic
// has where not all of it are multiply-adds. Start at operation_cycles.
#include <map>
#include <string>

#include "cost/instruction_figures.h"
#include "cost/work.h"
#include "hw/target.h"

namespace exotune {

/// Cycles of one operation on one element, by kind (Work::kinds), of the cheapest instruction on
/// registers that does nothing else to elements of `type`. By its figure, else its `cost`.
std::map<std::string, double> operation_costs(const Target& target, ScalarType type,
                                              const InstructionFigures& figures = {});

/// Cycles of a core whose operations come one vector after the other, without a pause; those that
/// the target has no instruction for count as the cheapest. 0: the work was not counted, or the
/// target has no multiply-add of the type, by which the machine's peak is known.
double operation_cycles(const Work& work, const std::map<std::string, int64_t>& sizes,
                        const std::map<std::string, double>& costs);

}  // namespace exotune
