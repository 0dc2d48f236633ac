#pragma once
// Function estimates: calls of functions and divisions for which the target has instructions that
// estimate them. Start at estimating_steps.
#include <vector>

#include "core/library/step.h"
#include "hw/target.h"

namespace exotune {

/// What may follow a schedule of `p`: call_twins with the instructions for each function that `p`
/// computes, and with all of them where there are several. Empty: the target estimates none.
std::vector<Steps> estimating_steps(const Proc& p, const Target& target);

}  // namespace exotune
