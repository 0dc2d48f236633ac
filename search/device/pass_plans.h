#pragma once
// Nests without a sum of products that an instruction of the device does while it stores: a maximum
// over pixels, a factor. Start at pass_schedules.
#include <string>
#include <vector>

#include "search/device/instruction_set.h"
#include "search/moves/step.h"

namespace exotune {

struct PassSchedule {
  Schedule schedule;
  std::string plan;  // in words
};

/// Schedules of the first nest that such an instruction does from tiles, brought in by transfers of
/// the device: larger tiles first, each with room for more and more of them. `start` has its sizes
/// fixed. Every step is proved by the core; what it refuses is no schedule.
std::vector<PassSchedule> pass_schedules(const Schedule& start,
                                         const DeviceInstructions& instructions);

}  // namespace exotune
