#pragma once
// Features of a scheduled proc: how often each term of the cost occurs in one run, without running
// it. Start at features_of.
#include <map>
#include <string>

#include "core/ir/proc.h"
#include "cost/terms.h"

namespace exotune {

/// `sizes` has a value for every size argument of `p` that is still symbolic. The run is one of
/// many on the same data, as runs are timed: caches are warm. Cost: linear in the proc times its
/// loop depth; some hundred microseconds for a scheduled matrix product.
Features features_of(const Proc& p, const std::map<std::string, int64_t>& sizes,
                     const CostMachine& machine);

}  // namespace exotune
