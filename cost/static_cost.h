#pragma once
// Static affine cost of a scheduled proc: cycles, without running it: its features times their
// weights (Morello section 3, with more terms). It only orders candidates; measurement decides.
// Start at static_cost.
#include <map>
#include <string>
#include <vector>

#include "core/ir/proc.h"
#include "cost/terms.h"

namespace exotune {

struct StaticCost {
  double cycles = 0;  // what candidates are ordered by
  Features features;  // what they are made of
};

struct CostSides {
  double core = 0, memory = 0;  // cycles
};
CostSides sides_of(const Features& features, const CostWeights& weights);

/// The sum of weight times count, without the hidden share of the lesser side.
double cost_of(const Features& features, const CostWeights& weights);

/// features_of(p, sizes, weights.machine), weighed.
StaticCost static_cost(const Proc& p, const std::map<std::string, int64_t>& sizes,
                       const CostWeights& weights);

}  // namespace exotune
