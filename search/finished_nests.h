#pragma once
// finished_nests: a nest with each of the finishes that it may have (vectors, unrolling, tiles),
// all made at once. Start at finish_all.
#include <optional>
#include <vector>

#include "core/base/deadline.h"
#include "search/moves/finishes.h"
#include "search/part_pricing.h"

namespace exotune {

struct FinishedNest {
  std::optional<PartPlan> plan;  // nothing: refused, no change, or no time
  std::vector<StepRefusal> refusals;
};

/// One result a finish, in their order: at any number of threads the same, unless the deadline is
/// over first; a finish that takes a large share of what is left of it is given up. A refused step
/// is left out, or the whole finish where its steps go together.
std::vector<FinishedNest> finish_all(const Schedule& nest, const std::vector<Finish>& finishes,
                                     const PartPricing& pricing, const Deadline& deadline);

}  // namespace exotune
