#pragma once
// Schedules drawn at random, good and bad alike: what a cost model is fitted to and judged by.
// Their parameters come from the target's text and the nest, never from a kernel's name. Start at
// random_schedules.
#include <string>
#include <vector>

#include "core/library/step.h"
#include "hw/target.h"
#include "search/nest.h"

namespace exotune {

/// `count` draws of steps for the nest (of literal extents), the same for the same seed; the
/// first is no step at all. The core may refuse some, and some may make the same proc.
std::vector<Steps> random_schedules(const Nest& nest, const Target& target, int count,
                                    uint64_t seed);

}  // namespace exotune
