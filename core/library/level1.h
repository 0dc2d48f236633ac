#pragma once
// Schedules for vector kernels: one loop over elements (BLAS level 1). Exo 2 section 6.2.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// Vectorizes every loop over `loop`: `interleave` vectors per iteration, then single vectors, then
/// one guarded vector for the rest. A sum into one element gets interleave x lanes accumulators.
/// Broadcasts and other invariant loads move in front of the loop; what is divided by an invariant
/// is multiplied by its reciprocal (take_reciprocals).
/// Proposed for elementwise loops and single sums: 1, 2, 4 or 8 vectors at once.
ProcPtr optimize_level_1(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                         int64_t interleave);

/// The same for one loop, up to what unrolls: loops over `loop`u and over registers stay.
ProcPtr optimize_level_1_loop(ProcPtr p, const Cursor& loop, const VectorUnit& unit,
                              int64_t interleave);

/// Scalar arguments that every loop over `loop` only reads are copied into local scalars in front
/// of it: a store through a window may alias an argument, so compilers load it again each time.
/// Proposed for elementwise loops: values that stay stay in registers.
ProcPtr keep_scalars(ProcPtr p, const std::string& loop);

}  // namespace exotune
