#pragma once
// Loops whose iterations threads can work on at once: tiles of one nest, for the beam
// (shared_loops), and the outermost loops of a program (shared_out). The dynamic program has
// parallel tiles of its own (search/dp).
#include <optional>
#include <string>
#include <vector>

#include "core/library/step.h"
#include "hw/target.h"
#include "search/beam.h"
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

/// The program with its outermost loops parallel that the core finds free of races, inside others
/// that are not. Loops with less than a 64th of the iterations stay; those of fewer iterations than
/// threads only become parallel where none inside them does. Nothing: none did. Cost: a proof for
/// each loop that is tried.
std::optional<BeamState> shared_out(const BeamState& program, int threads,
                                    const BeamContext& context);

}  // namespace exotune
