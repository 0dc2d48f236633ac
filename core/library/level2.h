#pragma once
// Schedules for matrix-vector kernels: two loops of which the inner runs along contiguous elements
// (BLAS level 2). Exo 2 section 6.2.2.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for i: for j: s, vectorized along j, `rows` iterations of i at a time: each vector of what does
/// not depend on i is loaded once per block of rows, and what does not depend on j stays in
/// registers; what is divided by something that does not depend on j is multiplied by its
/// reciprocal. `fused`: statements of a block of rows that run over the same vectors do so in one
/// loop, as far as they may, so that what several of them read is loaded once.
/// Proposed for sums along rows: 1 to 8 rows, 1 to 4 vectors at once.
ProcPtr optimize_level_2(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t rows, int64_t interleave,
                         bool fused = false);

/// optimize_level_2 along the loops inside `outer`, whatever they are called: general, symmetric
/// and triangular matrices, `r_fac` rows at a time, `c_fac` vectors of a row. Exo 2 appendix D.2.
/// SchedulingError when no loop stands inside, or loops of several names.
ProcPtr optimize_level_2_general(ProcPtr p, const std::string& outer, const VectorUnit& unit,
                                 int64_t r_fac, int64_t c_fac);

/// for i: [t = f(i);] for j: y[j] += e(i, j), by columns: `vectors` registers of y stay put while
/// all rows go by, so that y is read and written once. Scalars that a row computes are inlined. The
/// rest of an extent that is not known goes down the rows once as well (opt_skinny).
/// Proposed for sums that move along a matrix: 1 to 8 columns or vectors.
ProcPtr optimize_columns(ProcPtr p, const std::string& outer, const std::string& inner,
                         const VectorUnit& unit, int64_t vectors);

}  // namespace exotune
