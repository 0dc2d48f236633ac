#pragma once
// What one call of a nest takes, counted from its text: arithmetic operations, and the bytes that
// must come in and go out however it is scheduled. Start at work_of.
//
// Operations: each + - * /, comparison-and-choice, max, min and function of data counts one, an
// addition into an element or a `max=` one more; a change of sign (it is part of the operation
// around it), moving, converting and setting data and all arithmetic of indices count nothing. So a
// product of M, N and K takes 2*M*N*K, and a sum of absolute values 2*n: BLAS libraries that report
// n for it do not count the absolute value.
//
// Bytes: of each array argument the elements whose incoming value is read, and those that are
// written, each once: what a cache that holds everything would move. Scalars count nothing.
#include <map>
#include <string>

#include "core/ir/proc.h"
#include "hw/size_formula.h"

namespace exotune {

struct Work {
  SizeFormula operations;  // without text where they cannot be counted
  SizeFormula bytes;
  /// The operations that a schedule needs, by kind: "fma", one for a product and the sum that takes
  /// it, "+" (and -), "*", "/", functions by name ("exp"; a max= is an "fmax"). Each counts as
  /// often as its value changes: what moves with few of the loops around it is computed ahead, and
  /// multiplied by where it was divided by. Empty where operations cannot be counted.
  std::map<std::string, SizeFormula> kinds;
  /// Bytes of the elements that only come in, that only go out, and that do both in place: `bytes`
  /// is the first two and twice the third. Without text where they cannot be counted.
  SizeFormula read, written, updated;
};

/// Exact for loops with affine bounds, triangles included, and for guards that cut off a part of
/// one loop. Overlapping windows of one array count as the box around them. Not counted: guards of
/// another form, and the bytes of nests that call procedures or name windows. Cost: linear in the
/// text.
Work work_of(const Proc& p);

}  // namespace exotune
