#pragma once
// reference_order: the form of a nest whose compiled C tells what must come out of large arguments.
// Start at in_reference_order.
#include "core/base/deadline.h"
#include "core/ir/proc.h"
#include "hw/target.h"
#include "search/problem.h"

namespace exotune {

/// A nest that runs for long as it is written, in loops of which the innermost ones step through
/// fewer lines of memory: distributed and reordered, each step proved, nothing else. A product of
/// 1000 rows written row by column waits for memory ten times as long as row by row, and what must
/// come out is computed up to six times. The nest itself where it does not take long, where no
/// order steps less, and where the deadline is over. Lines are those of the nearest cache among
/// `levels`.
ProcPtr in_reference_order(const ProcPtr& p, const SizeBinding& sizes,
                           const std::vector<TargetLevel>& levels, const Deadline& deadline);

}  // namespace exotune
