#pragma once
// What bounds a kernel: the bytes that it must move, and what its schedule asks of the core and of
// the caches. Start at resource_shares.
#include <string>
#include <vector>

#include "cost/terms.h"
#include "hw/kernel_table.h"
#include "runners/memory_roof.h"

namespace exotune {

/// Of one call, counted from the text; where that cannot be, the kernel's formula, all of it read.
Traffic traffic_of(const Proc& p, const KernelEntry& kernel, const SizeBinding& sizes);

/// A part of the machine that a schedule needs: "loads", "lines from L2".
struct ResourceShare {
  std::string name;
  double percent = 0;  // of the time that a call takes, if nothing else kept it waiting
  /// Can it be what bounds a kernel? What a C compiler made of loops may need any part.
  bool is_of_machine() const;
};

/// Of a scheduled procedure that was measured to take so many cycles a call, the largest first;
/// those of a tenth and more. By the cost model (cost/terms.h): parts work at once, so that shares
/// may add up to more than the whole, and what none of them explains is waiting.
std::vector<ResourceShare> resource_shares(const Proc& scheduled, const SizeBinding& sizes,
                                           const CostWeights& weights, double cycles);

}  // namespace exotune
