#pragma once
// What is known of a target on this machine beyond its text: of instructions, and of lines by where
// they lie. Where nothing is known the text stands. Start at TargetFigures.
#include <vector>

#include "cost/instruction_figures.h"
#include "hw/core_facts.h"
#include "hw/target.h"

namespace exotune {

struct TargetFigures {
  /// The target's levels as this machine has them; empty: as its text says.
  std::vector<TargetLevel> levels;
  CoreFacts core = default_core();
  InstructionFigures instructions;
  /// Cycles for a line that lies in each cache, nearest first, and last in memory; empty: unknown.
  std::vector<double> lines;

  /// Part of the identity of everything that is computed with them; "" when nothing is known.
  std::string identity() const;
};

}  // namespace exotune
