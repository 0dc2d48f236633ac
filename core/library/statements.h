#pragma once
// Operators on single statements and expressions: sharing what is computed twice, moving a
// statement into the loop after it, binding with a lifted buffer. Made of primitives only; names
// are Exo 2's.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// s(e); t(e)  ->  x = e; s(x); t(x)
///
/// Binds every expression of data (an element read, or an operation) that the statements of the
/// block compute more than once, the largest first, where nothing it reads is written in between.
/// The new scalars are called `name`.
ProcPtr cse(ProcPtr p, const Where& block, const std::string& name);

/// s ; for i in seq(0, n): t  ->  for i in seq(0, n): { s; t }
///
/// Takes the statement into the loop after it, under `if i == 0` where it may not run again.
ProcPtr jam_stmt(ProcPtr p, const Where& stmt);

/// for i: s(a / b)  ->  for i: s(a * (1.0 / b))
///
/// For every quotient of floats in the loop whose divisor is the same in each iteration while the
/// dividend is not (multiply_by_reciprocal): one division is left once what stays moves in front.
[[nodiscard]] ProcPtr take_reciprocals(ProcPtr p, const Where& loop);

/// x[i] = x[i] + e  ->  x[i] += e        x[i] = fmax(e, x[i])  ->  x[i] max= e
///
/// Every assignment that changes its own element, in a loop that the element stays for, becomes the
/// reduction that it is (fold_into_reduce), so that sums are sums however they are spelled.
/// SchedulingError: there is none.
///
/// Proposed for every program that has such assignments, before anything else.
[[nodiscard]] ProcPtr fold_updates(ProcPtr p);

/// A binding whose buffer was lifted: cursors of `proc`.
struct BoundAndLifted {
  ProcPtr proc;
  Cursor load, alloc;
};
/// for i: s(e)  ->  x : T[c]; for i: { x[i] = e; s(x[i]) }
///
/// bind_expr, then autolift_alloc up to `max_size` elements.
BoundAndLifted bind_and_lift(ProcPtr p, const Where& expr, const std::string& name,
                             int64_t max_size);

}  // namespace exotune
