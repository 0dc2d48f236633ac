#pragma once
// Schedules for a device with memories and instructions of its own, found from the plain nest.
// Start at device_schedules.
//
// It reads the target's instructions, finds the kernel's sums that a product could do, ranks the
// plans for each by the figures of the target's text, and builds them; what the core refuses is no
// schedule. Nothing is measured here.
#include <string>
#include <vector>

#include "search/device/plan_builder.h"
#include "search/tuner.h"

namespace exotune {

struct DeviceSchedule {
  Schedule schedule;  // from the kernel, sizes fixed by its first steps
  std::string plan;   // in words
  double estimate = 0;
};

struct DeviceSearch {
  std::vector<DeviceSchedule> schedules;  // the most promising first
  std::vector<StepRefusal> refusals;
  size_t plans = 0;  // looked at
};

/// At most `most` schedules of `kernel` at `sizes`. None where no instruction of the target
/// multiplies tiles of what the kernel sums. `interrupted` is asked between plans.
DeviceSearch device_schedules(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target,
                              size_t most, const std::function<bool()>& interrupted);

}  // namespace exotune
