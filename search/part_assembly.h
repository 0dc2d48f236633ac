#pragma once
// Wholes made of plans of their parts. Start at PartAssembly::combine.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/part_plans.h"
#include "search/part_pricing.h"

namespace exotune {

class PartAssembly {
 public:
  /// `pricing` must outlive this; `refused` hears of every plan that a whole did not take.
  PartAssembly(const PartPricing& pricing, std::function<void(const StepRefusal&)> refused)
      : pricing_(pricing), refused_(std::move(refused)) {}

  /// Part number `part` as its plan number `plan` has it: taken out, scheduled, put back, each step
  /// proved. It stays as it is where that is refused, or where the part would have no code (check,
  /// once for each text of a plan, however many wholes it is part of).
  void schedule_as(Schedule& whole, const PartPlans& s, size_t part, size_t plan);

  /// The whole with plan number `which[n]` of each part n.
  PartPlan combine(const PartPlans& s, const std::vector<size_t>& which);

 private:
  std::optional<StepRefusal> schedule_part(Schedule& s, const Cursor& nest, const std::string& name,
                                           const PartPlan& plan);

  const PartPricing& pricing_;
  const std::function<void(const StepRefusal&)> refused_;
  std::map<std::string, std::optional<StepRefusal>> unsound_;  // plans, by text_hash
};

}  // namespace exotune
