#pragma once
// A machine of the dynamic program as a target's table [search] states it: levels, what a line
// costs to cross each, and the kernels that end a plan (docs/targets.md). Start at read_machine.
#include <optional>

#include "hw/target.h"
#include "search/dp/machine.h"

namespace exotune {

/// Fills levels, kernels and units. InputError, at its place in the text, for what does not fit the
/// target: an instruction that it lacks or whose body is no nest, a level that is not in the table.
void read_machine(const TomlTable& search, const Target& target, DpMachine& m);

/// An instruction's body is a nest; lifted like a user's, it gives the statement that the kernel
/// computes. Without costs and levels; nothing when the body is no nest.
std::optional<DpKernel> kernel_of(const ProcPtr& instruction);

}  // namespace exotune
