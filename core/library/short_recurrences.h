#pragma once
// Recurrences of a few rows, written out: what is left of a factorization or a triangular solve
// inside a block, where each row waits for the one before and loops cost more than their bodies.
// Start at unroll_nest.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for i in seq(0, 3): for j in seq(b, b + i): s(i, j)  ->  s(1, b); s(2, b); s(2, b + 1)
///
/// The loop, and all in it whose number of iterations is known then, wherever they begin; loops
/// over `but` stay, and what is in them is unrolled. A compiler keeps in registers what it sees in
/// one piece: elements of a small triangle go from one row to the next without memory. Made of
/// shift_loop, unroll_loop and delete_pass. SchedulingError: the loop's number of iterations is not
/// known, or more than 4096 statements would come of it.
/// Proposed for what a blocked recurrence leaves to one row after the other.
[[nodiscard]] ProcPtr unroll_nest(ProcPtr p, const Where& loop, const std::string& but = "");

/// for j in seq(0, 4): for i in seq(0, 8): { for k in seq(b, b + j): s(P[j, i], P[k, i]) ; t }
///   ->  P_reg = P[0:4, 0:8] ; s, t for all j and k, in vectors along i ; P[0:4, 0:8] = P_reg
///
/// The rows of the loop over j are registers, one by one computed from those before them. Made of
/// auto_stage_mem, divide_dim, unroll_nest and vectorize, each proved. Loops over `rows` may stand
/// anywhere inside, around single statements. SchedulingError: the loops are not of known lengths,
/// those over `rows` in whole vectors, the loop writes several arrays, or no instruction does what
/// it does.
/// Proposed for the columns of a panel that are solved with one triangle, and for small systems
/// side by side in lanes.
[[nodiscard]] ProcPtr solve_in_registers(ProcPtr p, const Where& loop, const std::string& rows,
                                         const VectorUnit& unit);

}  // namespace exotune
