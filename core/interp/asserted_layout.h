#pragma once
// Where elements of a window stand whose strides a procedure asserts:
//
//   assert stride(A, 0) == 1      # columns behind one another: strides 1, rows
//   assert stride(A, 0) == 64     # rows 64 apart
//
// Test data have to stand so, or the assert that a kernel begins with refuses them. Dimensions of
// which nothing is said are laid out around those, the last innermost, without gaps and without two
// elements in one place. Asserts that relate strides to one another (stride(A, 0) == stride(B, 0))
// fix no number; what stands densely may not meet them, and the interpreter then says so.
#include <map>
#include <optional>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// Strides of window `name` in elements at this shape; nothing where no assert of `p` speaks of
/// them, so that any layout will do. `env`: the values of control arguments.
std::optional<std::vector<int64_t>> asserted_layout(const Proc& p, Sym name,
                                                    const std::vector<int64_t>& shape,
                                                    const std::map<Sym, int64_t>& env);

}  // namespace exotune
