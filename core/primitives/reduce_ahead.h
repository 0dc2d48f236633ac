#pragma once
// Sums and maxima over windows, one direction after the other.
// How to read an entry: core/primitives/primitives.h.
#include <string>

#include "core/primitives/where.h"

namespace exotune {

/// for c: for y: for x: for r: for s: out[c, y, x] max= a[c, 2 * y + r, 2 * x + s]
///                      nest `for c`, loop `for r` of seq(0, R), name t, a : T[C, H, W]
///   ->  t : T[C, Y, W]
///       for c: for y: for w: { t[c, y, w] = a[c, 2 * y, w]
///                              for r in seq(1, R): t[c, y, w] max= a[c, 2 * y + r, w] }
///       for c: for y: for x: for s: out[c, y, x] max= t[c, y, 2 * x + s]
/// A sum `+=` begins at zero, and its other factors stay where they are. The axes of t: the other
/// loops of each subscript that mentions the loop; of a subscript that does not, its loop where it
/// is one, else the whole dimension, so that what windows share is computed once. Several
/// statements may stand in the nest (a beginning, a division by the number of elements).
/// Obligation: the loop is sequential, begins at 0, surely runs, and holds loops around one
/// reduction alone, whose bounds do not mention it; loops that become axes begin at 0 and surely
/// run, their bounds free of loops in the nest and of configuration; of the operands one mentions
/// the loop, and the element does not; nothing in the nest writes that operand, calls or sets
/// configuration; each element that t is made of exists; it and the element are of one type,
/// floating-point for a sum, which is reordered.
/// Forwarding: the loops that stay keep their cursors, the one that is reduced over goes;
/// allocation and fill stand before the nest.
/// Proposed for windows that overlap, in programs and as a view.
[[nodiscard]] ProcPtr reduce_ahead(ProcPtr p, const Where& nest, const Where& loop,
                                   const std::string& name);

}  // namespace exotune
