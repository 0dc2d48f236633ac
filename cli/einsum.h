#pragma once
// Sums of products in Einstein's notation: "abc,cd->abd" as a procedure. Start at einsum_text.
#include <optional>
#include <string>

namespace exotune::cli {

/// Does the text name a kernel in this notation ("einsum:abc,cd->abd")? What comes after the colon.
std::optional<std::string> einsum_of(const std::string& kernel);

/// A module with one procedure, `einsum`, that adds to its output:
///
///   "ab,bc->ac"   @proc
///                 def einsum(a: size, b: size, c: size, A: f32[a, b], B: f32[b, c], out: f32[a,
///                 c]):
///                     for ai in seq(0, a):
///                         for ci in seq(0, c):
///                             for bi in seq(0, b):
///                                 out[ai, ci] += A[ai, bi] * B[bi, ci]
///
/// A type may follow indices, "ab:i8,bc:i8->ac". A result without one has the type that some factor
/// is summed in and that holds them all (i32 for bytes, f32 for brain floats), a factor without one
/// has the result's; all are f32 where nothing is said. Factors of another type than the result are
/// widened before they are multiplied; a result that does not hold its factors is refused.
///
/// Loops over the output's indices come first, in its order, then those of the sum as they appear.
/// Spaces count nothing. Throws InputError with the column of what is wrong.
std::string einsum_text(const std::string& notation);

}  // namespace exotune::cli
