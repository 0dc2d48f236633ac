#pragma once
// Schedules for a device with memories and instructions of its own, found from the plain nest.
// Start at DeviceSearch.
//
// It reads the target's instructions, finds the kernel's sums that a product could do, ranks the
// plans for each by the figures of the target's text, and builds them; what the core refuses is no
// schedule. Nothing is measured here.
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "search/device/pass_plans.h"
#include "search/device/plan_builder.h"
#include "search/device/plan_space.h"
#include "search/tuner.h"

namespace exotune {

struct DeviceSchedule {
  Schedule schedule;  // from the kernel, sizes fixed by its first steps
  std::string plan;   // in words
  double estimate = 0;
  size_t number = 0;  // of the plan, for DeviceSearch::like
};

/// Does any instruction of the target multiply tiles of what the kernel sums at these sizes?
bool device_serves(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target);

/// The plans of one kernel at one size, made into schedules a few at a time.
class DeviceSearch {
 public:
  /// Looks at all plans; `target` must outlive this. Where no instruction of the target multiplies
  /// tiles of what the kernel sums, what its other instructions do (pass_plans.h); else none.
  DeviceSearch(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target);

  /// The next most promising ones, `count` of them as long as there are so many. `interrupted` (may
  /// be empty) is asked between plans.
  std::vector<DeviceSchedule> next(size_t count, const std::function<bool()>& interrupted);
  /// Those not tried yet that have the loops of plan `number`, in its order: what differs is where
  /// operands are kept, which estimates tell apart badly.
  std::vector<DeviceSchedule> like(size_t number, size_t count,
                                   const std::function<bool()>& interrupted);
  /// The same plan with its loads in front of the sum, and ahead of the sum before.
  std::vector<DeviceSchedule> earlier_loads(size_t number);
  /// The same plan with instructions that set results to zero, where the first product did; and
  /// with stores of one tile, where several left together.
  std::vector<DeviceSchedule> taken_apart(size_t number);
  bool empty() const { return plans_.empty() && passes_.empty(); }
  /// Of plans that were tried so far.
  const std::vector<StepRefusal>& refusals() const { return refusals_; }

 private:
  struct Chosen {
    const RankedPlan* ranked;
    size_t number;
  };
  // Side by side; results in the order given.
  void build(const std::vector<Chosen>& chosen, std::vector<DeviceSchedule>& out);
  // Of plans made on request; their numbers follow those of `plans_`.
  Chosen remember(RankedPlan plan);
  const DevicePlan* plan_at(size_t number) const;
  std::vector<DeviceSchedule> made_of(std::vector<DevicePlan> plans);

  const Target& target_;
  std::vector<Schedule> starts_;  // by sum: with the values that its device instructions read
  DeviceInstructions instructions_;
  std::vector<KernelSum> sums_;
  std::vector<RankedPlan> plans_;     // that refer to the above
  std::deque<RankedPlan> varied_;     // made on request
  std::vector<PassSchedule> passes_;  // not handed out yet
  size_t next_ = 0;                   // all before were tried
  std::set<std::string> tried_;       // texts of plans
  size_t refused_in_a_row_ = 0;
  std::vector<StepRefusal> refusals_;
};

}  // namespace exotune
