#pragma once
// Replay: a plan as the steps of a schedule. What each action becomes:
//
//   tile(dim, size)              block_loop: the outer part in front of the whole current nest
//   parallel tile(dim, size)     the same, and its loop becomes parallel when all else is done
//   move into another layout     pack_operand in front of the current nest, in strips of the
//                                dimension that the layout has innermost
//   input across the vectors     pack_operand in front of the first loop that reads it again
//   move into a cache            nothing: the hardware does it
//   output into vector registers register_block: the micro-kernel that the rest of the plan
//   describes elementwise into registers   vectorize select, initialise           nothing more: the
//   steps above end in instructions
//
// A loop that was planned for another extent is cut into pieces as even as whole inner tiles allow.
// The steps follow the plan's main bodies; boundary bodies get the same steps, which the
// operators apply to every nest of the same loops. Nothing is trusted: the caller runs the steps
// through the core, and one that is refused costs the plan.
#include "core/library/step.h"
#include "search/dp/dp.h"

namespace exotune {

/// The steps that make the plan of the nest, whose Spec it solves. Empty for a plan that leaves the
/// nest as it is. `instructions`: those that may be used, the preferred ones first.
Steps steps_of(const PlanNode& plan, ActionSpace& space, const LiftedNest& nest,
               const Target& target, const ValueList& instructions);

/// The Spec of the nest with every operand in the outermost level, row by row, but for a factor
/// that the vector loop goes across (SpecKind::turned): every plan packs that one, and is made as
/// if its vectors lay there already. Where vectors can be masked, the loop they run along is
/// rounded up to whole ones. Refuses (InputError) symbolic extents.
Spec spec_of(const LiftedNest& nest, const Proc& proc, ActionSpace& space);

}  // namespace exotune
