#pragma once
// Moves: what the beam may do next to a schedule. A move is one or more steps; its parameters come
// from the target's text (lanes, registers, caches) and from inspection of the nest, never from a
// kernel's name. Start at space_for.
#include <set>
#include <string>
#include <vector>

#include "core/library/step.h"
#include "hw/machine.h"
#include "hw/size_formula.h"
#include "hw/target.h"
#include "search/nest.h"
#include "search/steps/builders.h"

namespace exotune {

/// A few steps that belong together, for example block_loop('k', 256, ...) alone.
struct Move {
  Steps steps;        // empty: leave the schedule as it is
  std::string tag;    // remembered by the schedule: "vectors=2"; "" = none
  std::string needs;  // only for schedules that carry this tag; "" = for all
};

/// One decision: the beam tries every move on every state. A state all of whose moves are refused
/// is dropped.
struct Stage {
  std::string name;  // "k block", "pack", "register tile"
  std::vector<Move> moves;
};

struct SearchSpace {
  Steps prologue;  // what every schedule starts with
  std::vector<Stage> stages;
  /// Tags between which the static cost says little: schedules of each take turns in the result.
  std::set<std::string> in_turn;
};

/// Vectors beside one another in a register tile at most: wider than high, it loads more than it
/// computes with, and waits for loads beyond four.
int64_t widest_tile(int64_t registers);

/// The decisions for this nest, outermost first. Empty stages: nothing to search. Loops that are
/// tiles already, and operands that lie in strips already, stay so. Of the constraints, tile sets
/// and keep_order shape the moves; the others are kept by refusing what breaks them.
SearchSpace space_for(const Nest& nest, const Target& target,
                      const std::vector<TargetLevel>& levels,
                      const std::vector<ScriptConstraint>& constraints = {});

}  // namespace exotune
