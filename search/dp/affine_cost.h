#pragma once
// Affine cost of a plan (paper section 3): a loop costs its trips times its body, a block the sum
// of its parts, a move what its source and its destination cost to touch, a kernel a constant.
// Tiles shared out to threads: what the busiest of them takes, and what starting them costs (in
// actions.h). Start at AffineCost.
//
// Costs are 64-bit counts of the machine's units. Ties go to the smaller peak, level by level from
// the fastest, then to the shallower plan.
#include "search/dp/limits.h"
#include "search/dp/spec.h"

namespace exotune {

constexpr int64_t kNoCost = INT64_MAX / 4;  // above any plan's

struct PlanCost {
  int64_t units = kNoCost;
  Limits peak;  // memory in use at once, rounded up
  uint8_t depth = 0;

  bool operator==(const PlanCost&) const = default;
  bool operator<(const PlanCost& o) const {
    if (units != o.units) return units < o.units;
    if (peak.codes != o.peak.codes) return peak.codes < o.peak.codes;
    return depth < o.depth;
  }
};

class AffineCost {
 public:
  AffineCost(const DpMachine& machine, const SpecKinds& kinds, const LayoutPool& layouts,
             bool ports = true)
      : machine_(machine), kinds_(kinds), layouts_(layouts), ports_(ports) {}

  /// Lines (or registers) that the operand occupies in its level.
  int64_t amount(const OperandState& o, const OperandShape& shape, ScalarType type) const;
  /// lines * the level's cost, more (the paper: twice) when the tensor is not contiguous. `beside`:
  /// other threads use the level too.
  int64_t touch(const OperandState& o, const OperandShape& shape, ScalarType type,
                bool beside = false) const;
  /// The kernel's cost on a Spec it applies to.
  int64_t kernel(const DpKernel& k, const Spec& spec) const;

 private:
  const DpMachine& machine_;
  const SpecKinds& kinds_;
  const LayoutPool& layouts_;
  bool ports_;  // a register block costs its busiest port, not the sum
};

}  // namespace exotune
