#pragma once
// Signed factors for instructions that take unsigned ones. A part of dot_block, made of primitives.
#include <cstdint>
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i: for j: for k: { a : T ; b : T ; a = A[i, k] ; b = B[..] ; C[i, j] += a * b }
///   ->  A_shift : ui8[I, K]
///       for i: for k: A_shift[i, k] = A[i, k] + shift
///       C_shift : T[J]
///       for j: C_shift[j] = 0
///       for j: for k: for kg: C_shift[j] += A_ones[kg] * B[..]      (each of A_ones is shift)
///       for j: C_shift[j] = -C_shift[j]
///       for i: for j: { for k: C[i, j] += A_shift[i, k] * B[..] ; C[i, j] += C_shift[j] }
/// a * b = (a + shift) * b - shift * b, and what is taken off is the same in every row. Integers
/// wrap around, so it is exact. The depth is a multiple of `group`. `first`: the buffer of the
/// factor that does not run along j, where `second` is the other.
struct ShiftedProduct {
  ProcPtr proc;
  Path nest, correction;  // of `proc`: for i, and for j of the sum of shift * B
  Sym first, correction_sum;
};
[[nodiscard]] ShiftedProduct shift_rows(ProcPtr p, const Path& nest, Sym first, Sym second, Sym sum,
                                        ScalarType unsigned_type, int64_t shift, int64_t group);

}  // namespace exotune
