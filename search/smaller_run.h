#pragma once
// A run of a nest at smaller sizes that stands for one at the sizes asked for: a simulator takes
// minutes for what the nest as written of a large layer takes, which is only there to compare with.
// Start at smaller_run.
#include "core/ir/proc.h"
#include "hw/size_formula.h"

namespace exotune {

struct SmallerRun {
  SizeBinding sizes;
  double times = 1;  // as many operations as at these sizes; 1: they are the sizes asked for
};

/// At most `most` operations, if sizes can be halved so far within what the kernel asserts: those
/// of outer loops first, so that what an iteration of the inner ones takes stays what it is. The
/// sizes as they are, where `operations` says nothing.
SmallerRun smaller_run(const ProcPtr& kernel, const SizeFormula& operations,
                       const SizeBinding& sizes, double most);

}  // namespace exotune
