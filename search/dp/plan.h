#pragma once
// Plans of the dynamic program, in memory and as text. Start at PlanNode; replay.h makes steps of
// one.
#include <array>
#include <string>
#include <vector>

#include "search/dp/actions.h"

namespace exotune {

/// A complete plan: each node with the Spec it implements.
struct PlanNode {
  Spec spec;
  Limits limits;
  DpAction action;
  PlanCost cost;
  std::vector<PlanNode> parts;
  int main = 0;                // the part that the plan goes on with
  std::vector<int64_t> times;  // of each part
};

/// What the plan costs by the cost model alone, without the memo.
PlanCost cost_of(const PlanNode& plan, ActionSpace& space);

/// "tile 0 by 64 ..." one line per node, for people.
std::string str(const PlanNode& plan, ActionSpace& space);

/// The cost of one action from its parts' costs.
PlanCost combine(const Expansion& e, const std::array<const PlanCost*, kMaxParts>& parts,
                 const LimitCodes& codes);

}  // namespace exotune
