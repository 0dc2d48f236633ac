#pragma once
// A scalar that goes from one iteration to the next, as an array of its values.
// How to read an entry: core/primitives/primitives.h.
#include <string>

#include "core/primitives/where.h"

namespace exotune {

/// for k in seq(lo, hi): { s1(x) ; x = e(x) ; s2(x) }
///   ->  t : T[hi - lo + 1]
///       t[0] = x
///       for k in seq(lo, hi): { s1(t[k - lo]) ; t[k - lo + 1] = e(t[k - lo]) ; s2(t[k - lo + 1]) }
///       x = t[hi - lo]                                               unless nobody reads x then
/// x is a scalar, allocated or an argument; t is of its type. (Scalar expansion of what loops
/// carry; Wolfe's wrap-around variables.)
/// Obligation: the loop is sequential, lo <= hi, and its bounds read no configuration; one
/// assignment among the statements of its own body writes x, nothing else below it does, and
/// neither calls nor windows use x. The `par` loops around are proved free of races again, and no
/// value written to configuration comes to depend on the loop.
/// Forwarding: the loop and its statements stay; allocation and first value stand before it, the
/// last one behind.
/// Proposed for values of the iteration before that a loop keeps in a scalar.
[[nodiscard]] ProcPtr expand_scalar(ProcPtr p, const Where& loop, const Where& scalar,
                                    const std::string& name);

}  // namespace exotune
