#pragma once
// Operands that run the wrong way: whose last index is not the vector loop, as the second factor of
// A * B'. Made of primitives only.
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// s(B[j, k])  ->  B_t : T[K, J]; for k: for j: B_t[k, j] = B[j, k]; s(B_t[k, j])
///
/// In front of `block` (statements that only read `buffer`), the part of it that they touch, its
/// last two dimensions exchanged; in register tiles where one of `instrs` transposes.
/// SchedulingError when that part is no rectangle of two dimensions or more.
ProcPtr pack_transposed(ProcPtr p, const std::string& buffer, const Where& block,
                        const std::vector<ProcPtr>& instrs);

/// Is the instruction `for i: for j: dst[i, j] = src[j, i]`?
bool is_transpose(const Proc& instr);

}  // namespace exotune
