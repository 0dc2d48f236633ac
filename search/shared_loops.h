#pragma once
// Loops whose tiles threads can work on at once, for the beam: the dynamic program has parallel
// tiles of its own (search/dp). Start at shared_loops.
#include <string>
#include <vector>

#include "core/library/step.h"
#include "hw/target.h"
#include "search/nest.h"

namespace exotune {

struct SharedLoop {
  ScheduleStep share_out;    // before all others: the outer part of the loop in front
  ScheduleStep parallelize;  // after all others
  Nest part;                 // what one thread works on
};

/// One for each loop of literal extent that indexes the result, the one vectors run along first.
/// Threads get equal parts (whole vectors along that loop); the rest is one thread's work.
std::vector<SharedLoop> shared_loops(const Nest& nest, const Target& target, int threads);

}  // namespace exotune
