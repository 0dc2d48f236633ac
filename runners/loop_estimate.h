#pragma once
// What llvm-mca says the loops of loop_timing.h take: for machines whose figures nobody has
// measured yet. Start at estimate_loops.
#include "runners/loop_timing.h"

namespace exotune {

/// Is llvm-mca on PATH?
bool can_estimate();

/// Cycles by the scheduling model of this CPU, or of the nearest one that knows the instructions.
/// Each function must hold one region between the comments `# LLVM-MCA-BEGIN NAME` and
/// `# LLVM-MCA-END NAME`, NAME its own. Nothing is run. What cannot be compiled or modelled has
/// no cycles and a cause.
LoopTimings estimate_loops(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain);

}  // namespace exotune
