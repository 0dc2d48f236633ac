#include "cost/static_cost.h"

#include <algorithm>

#include "cost/features.h"

namespace exotune {

CostSides sides_of(const Features& features, const CostWeights& weights) {
  CostSides out;
  for (size_t k = 0; k < kTerms; ++k)
    (is_memory(static_cast<Term>(k)) ? out.memory : out.core) +=
        features.count[k] * weights.cycles[k];
  return out;
}

double cost_of(const Features& features, const CostWeights& weights) {
  const CostSides s = sides_of(features, weights);
  return s.core + s.memory - weights.hidden * std::min(s.core, s.memory);
}

StaticCost static_cost(const Proc& p, const std::map<std::string, int64_t>& sizes,
                       const CostWeights& weights) {
  StaticCost out;
  out.features = features_of(p, sizes, weights.machine);
  out.cycles = cost_of(out.features, weights);
  return out;
}

}  // namespace exotune
