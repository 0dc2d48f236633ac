#include "search/dp/plan.h"

#include <algorithm>
#include <optional>

#include "core/base/diagnostic.h"
#include "search/dp/action_forms.h"

namespace exotune {
// Plans as trees: their costs, and how they print.

// Costs add up by how often a part runs; peaks do not: parts run one after the other, so each
// level's peak is what the action allocates beside the greatest of its parts.
PlanCost combine(const Expansion& e, const std::array<const PlanCost*, kMaxParts>& parts,
                 const LimitCodes& codes) {
  PlanCost out;
  out.units = e.own_cost;
  out.peak = e.used;
  for (int i = 0; i < e.parts; ++i) {
    out.units += e.part[i].times * parts[i]->units;
    out.depth =
        std::max<uint8_t>(out.depth, static_cast<uint8_t>(std::min(254, parts[i]->depth + 0)));
    for (int level = 0; level < kMaxLevels; ++level) {
      uint8_t code = parts[i]->peak.codes[level];
      if (i == e.main && e.at_once > 1 && (e.shared_levels >> level & 1))
        code = codes.up(level, codes.amount(level, code) * e.at_once);
      if (level == e.allocated_level)
        code = codes.up(level, codes.amount(level, code) + e.allocated);
      out.peak.codes[level] = std::max(out.peak.codes[level], code);
    }
  }
  if (e.parts > 0) ++out.depth;
  return out;
}

// Worked out again from the tree, for tests: the solver's sums must agree with this.
PlanCost cost_of(const PlanNode& plan, ActionSpace& space) {
  std::optional<Expansion> expansion;
  space.expand(plan.spec, plan.limits, [&](const Expansion& e) {
    if (e.action == plan.action) expansion = e;
  });
  EXO_CHECK(expansion && expansion->parts == static_cast<int>(plan.parts.size()));
  std::array<PlanCost, kMaxParts> costs;
  std::array<const PlanCost*, kMaxParts> pointers{};
  for (size_t i = 0; i < plan.parts.size(); ++i) {
    costs[i] = cost_of(plan.parts[i], space);
    pointers[i] = &costs[i];
  }
  return combine(*expansion, pointers, space.codes());
}

namespace {

void print(const PlanNode& plan, ActionSpace& space, int indent, std::string& text) {
  text += std::string(indent, ' ') + std::to_string(plan.cost.units) + "  " +
          str(plan.spec, space.kinds(), space.layouts(), space.machine().level_names()) + ": " +
          text_of(plan.action, plan.spec, space,
                  {[](int dim) { return std::to_string(dim); },
                   [](int index) { return "$" + std::to_string(index); }});
  text += "\n";
  for (const PlanNode& part : plan.parts) print(part, space, indent + 2, text);
}

}  // namespace

std::string str(const PlanNode& plan, ActionSpace& space) {
  std::string text;
  print(plan, space, 0, text);
  return text;
}

}  // namespace exotune
