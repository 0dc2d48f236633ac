#pragma once
// NestPlans: plans of a single nest: its loops in the orders that are worth it, each with the
// register tiles and the finishes that fit it. Start at NestPlans::add.
#include <optional>
#include <vector>

#include "core/base/deadline.h"
#include "search/move_tally.h"
#include "search/moves/finishes.h"
#include "search/moves/loop_order.h"
#include "search/part_pricing.h"

namespace exotune {

/// How much is tried of one nest.
struct NestEffort {
  Deadline until;
  bool part = false;   // of a program: where tiles fit, one order gets all finishes
  bool brief = false;  // where tiles fit, none does
};

class NestPlans {
 public:
  /// All of them must outlive this. `instructions` as a script's `instrs`.
  NestPlans(const Target& target, const std::vector<TargetLevel>& levels,
            const ValueList& instructions, const PartPricing& pricing, MoveTally& tally)
      : target_(target),
        levels_(levels),
        instructions_(instructions),
        pricing_(pricing),
        tally_(tally) {}

  /// Adds the plans of the procedure's one nest. Orders come cheapest first after the one that is
  /// written.
  void add(const Schedule& nest, const NestEffort& effort, std::vector<PartPlan>& plans) const;
  /// Adds plans of a program whose nests stand in loops that vectors may run along.
  void add_around(const Schedule& program, const Deadline& until,
                  std::vector<PartPlan>& plans) const;

 private:
  std::vector<size_t> cheapest_first(const std::vector<LoopOrder>& orders) const;
  std::vector<Finish> tiles_of(const Schedule& s) const;
  bool finish(const Schedule& s, const std::vector<Finish>& finishes, const Deadline& until,
              std::vector<PartPlan>& plans) const;

  const Target& target_;
  const std::vector<TargetLevel>& levels_;
  const ValueList& instructions_;
  const PartPricing& pricing_;
  MoveTally& tally_;
};

}  // namespace exotune
