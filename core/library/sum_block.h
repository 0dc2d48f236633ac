#pragma once
// Sums of several loops, kept in registers: convolutions and whatever else adds up over more than
// one loop, with or without a beginning and an end of its own (a bias, a rectifier). Made of
// primitives only. Start at sum_block; contraction.h has the micro-kernel of sums of one loop.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// At every nest `for i: for j:` over loops of these names, i of literal extent, around one of
///
///   s : T; s = begin; for r1: .. for rn: s += a * b; out[..] = end(s)
///   out[..] = begin; for r1: .. for rn: out[..] += a * b
///   for r1: .. for rn: out[..] += a * b
///
/// or several sums that share these loops and what they read, `{ s += a * b; t += a * c }` (the two
/// halves of a complex product, the gate of a layer beside its value), the sums of the whole i x j
/// tile go into registers, are begun, added up and ended in loops of their own, and r1 .. rn come
/// outside:
///
///   for i: for j: s[i, j] = begin
///   for r1: .. for rn: for i: for j: s[i, j] += a * b
///   for i: for j: out[..] = end(s[i, j])
///
/// j is vectorized; operands that run along j and are the same for all i are loaded once for all of
/// them. Exact for any extents: a last partial vector is guarded where memory is touched, and
/// computed whole where nobody sees what is too much. An extent of j that is no literal must be
/// provably at most one vector. Nothing is reassociated, but that terms of one product and more are
/// added one by one (products_apart).
///
/// `reads_first`: the end reads the whole tile of `out` before it writes any of it. Where rows are
/// short, a masked vector of one row lies over the beginning of the next; a load of that waits
/// until the store before it has left the core.
///
/// `window`: the name of one of r1 .. rn, of literal extent, that moves what is read the way i does
/// (x[i + r]): it comes inside the others, and the rows that are read in turn, each once for all
/// rows of the tile in whose window it lies (window_rows). Sums over other loops beside it take
/// their terms in another order then.
///
/// InvalidCursorError when no nest is of this form.
/// Proposed for sums over several loops, and other sums than products: likewise.
ProcPtr sum_block(ProcPtr p, const std::string& i, const std::string& j, const VectorUnit& unit,
                  bool reads_first = false, const std::string& window = "");

}  // namespace exotune
