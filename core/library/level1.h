#pragma once
// Schedules for vector kernels: one loop over elements (BLAS level 1). Exo 2 section 6.2.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// Vectorizes every loop over `loop`: `interleave` vectors per iteration, then single vectors, then
/// one guarded vector for the rest; where no instruction does a part of a vector (narrow elements,
/// functions), that element by element. A sum into one element gets interleave x lanes
/// accumulators, and takes single and guarded vectors first: their additions wait for nothing.
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

/// for i: { y[i] = 0 ; for r: y[i] += x[i + r] }
///   ->  for i: { y_r = 0 ; for r: y_r += x[i + r] ; y[i] = y_r }      for every loop over `loop`
///
/// Elements that inner loops add to, the same for the whole body, are local scalars there: unrolled
/// and in vectors they stay in registers, where guarded vectors would go through memory.
/// SchedulingError: the loops hold no such sum.
/// Proposed for short loops inside what becomes vectors.
ProcPtr keep_sums(ProcPtr p, const std::string& loop);

/// How many functions are computed in `e`, but for those that are an instruction nearly everywhere
/// (sqrt, fabs, floor, ...).
int functions_in(const ExprPtr& e);

/// for i in seq(lo, hi): y[i] = f(a + g(x[i]))
///   ->  for io: { g_i : T[size] ; for i in seq(0, size): g_i[i] = g(x[lo + size*io + i])
///                 for i in seq(0, size): y[..] = f(a + g_i[i]) } ; the rest as it was
/// Functions in loops of their own, the innermost first: a call takes all registers with it, and of
/// two that wait for each other few are under way. SchedulingError: the body is not one statement
/// with two functions or more (functions_in), or a strip cannot be taken.
/// Proposed for elementwise loops with several functions: strips of 16 vectors.
ProcPtr stage_functions(ProcPtr p, const Where& loop, int64_t size);

}  // namespace exotune
