#pragma once
// From a plan to a schedule: the steps, each proved by the core, that tile a kernel's loops, bring
// operands and results into the device's memories and replace the tiles by instructions. Start at
// build_plan.
#include <optional>
#include <string>

#include "search/device/device_plan.h"
#include "search/moves/step.h"

namespace exotune {

struct BuiltPlan {
  std::optional<Schedule> schedule;  // nothing: refused
  StepRefusal refusal;
};

/// `start` is the schedule that the plan's sum was read from. Everything is decided by what the
/// core proves: a plan that does not hold together is refused. What is done to results that no
/// instruction does, the processor does in memory of its own.
BuiltPlan build_plan(const Schedule& start, const DevicePlan& plan,
                     const DeviceInstructions& instructions);

}  // namespace exotune
