#pragma once
// Schedules for vector kernels: one loop over elements (BLAS level 1), and two loops of which the
// inner runs along contiguous elements (BLAS level 2). Exo 2 section 6.2.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// Vectorizes every loop over `loop`: `interleave` vectors per iteration, then single vectors, then
/// one guarded vector for the rest. A sum into one element gets interleave x lanes accumulators.
/// Broadcasts and other invariant loads move in front of the loop.
ProcPtr optimize_level_1(ProcPtr p, const std::string& loop, const VectorUnit& unit, int64_t interleave);

/// Scalar arguments that every loop over `loop` only reads are copied into local scalars in front of
/// it: a store through a window may alias an argument, so compilers load it again each time.
ProcPtr keep_scalars(ProcPtr p, const std::string& loop);

/// for i: for j: s, vectorized along j, `rows` iterations of i at a time: each vector of what does not
/// depend on i is loaded once per block of rows, and what does not depend on j stays in registers.
ProcPtr optimize_level_2(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t rows, int64_t interleave);

}  // namespace exotune
