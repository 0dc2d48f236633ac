#pragma once
// Loops that write several arrays. Start at read_then_write.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for i: { a[i] = f(x[i]) ; b[i] = g(x[i], y[i]) }                                 vectors = 2
///   ->  for io: { x0 = x ; x1 = x ; y0 = y ; y1 = y ; a = f(x0) ; a = f(x1) ; b = g(x0, y0) ; .. }
///       and what is left over, vector by vector
///
/// Reads that stand between writes of two arrays wait for them: nothing says where the arrays lie.
/// Each element that the body reads is bound to a scalar in front of it, then `vectors` vectors are
/// taken one statement after the other, so that all are read before one is written. Elements that
/// are read after they were written stay where they are. Made of bind_expr, divide_loop, vectorize,
/// distribute_loop and unroll_loop, each proved; what is left over goes by optimize_level_1_loop.
/// SchedulingError: a loop is shorter than so many vectors (2 to 64), or none can run along it.
/// Proposed for loops that write several arrays, as many vectors as have room for what they read.
[[nodiscard]] ProcPtr read_then_write(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                                      int64_t vectors);

}  // namespace exotune
