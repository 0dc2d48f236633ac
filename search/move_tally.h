#pragma once
// MoveTally: which operators were proposed, taken and refused while structures were tried.
#include <map>
#include <string>
#include <vector>

#include "search/moves/step.h"

namespace exotune {

struct MoveTally {
  std::map<std::string, int> proposed, accepted, refused;  // by operator
  std::vector<StepRefusal> refusals;  // one of each operator, and all that have no place
  int made = 0;                       // schedules

  void accept(const Schedule& s) {
    for (const ScheduleStep& step : s.steps) ++accepted[step.op];
  }
  void refuse(const StepRefusal& r) {
    if (refused[r.op]++ == 0 || r.place.empty()) refusals.push_back(r);
  }
};

}  // namespace exotune
