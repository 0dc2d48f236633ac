#pragma once
// The plans that a sum has on a device: which tiles, blocks and orders of loops, what is kept how
// long, as far as the memories allow. Start at plans_of.
#include <vector>

#include "search/device/device_plan.h"

namespace exotune {

struct RankedPlan {
  DevicePlan plan;
  double estimate = 0;  // cycles, by the target's text; for the order of trials only
};

/// The cheapest by estimate first, at most `most`; of those that differ only in how long operands
/// are kept, the best come before the rest. `sum`, `product` and `instructions` are borrowed.
std::vector<RankedPlan> plans_of(const KernelSum& sum, const ProductInstruction& product,
                                 const DeviceInstructions& instructions, const Target& target,
                                 size_t most);

/// All that has the loops of `plan`, in its order: what differs is where operands are kept, and
/// how.
std::vector<RankedPlan> plans_like(const DevicePlan& plan, const DeviceInstructions& instructions,
                                   const Target& target);

}  // namespace exotune
