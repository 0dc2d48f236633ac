#pragma once
// Separation: a buffer that a nest reads in two ways is read through a copy in one of them. Start
// at separate_operands.
#include "search/moves/step.h"
#include "search/outline/outline.h"

namespace exotune {

/// for i in seq(0, 32): for j in seq(0, 32 * b): for k: C[..] += A[k, 32 * b + i] * A[k, j]
///   ->  A_own[0:K, 0:32] = A[0:K, 32 * b:32 * b + 32] ; .. C[..] += A_own[k, i] * A[k, j]
///
/// For a buffer with several different reads in the nest at the top, one of which does not move
/// along the loop in which the result is contiguous: that one's window is staged (stage_mem), which
/// the core allows where the other reads are provably elsewhere. Register tiles then have two
/// operands. Reads a constant distance apart are of one way. Nothing: there is none, or the core
/// refused.
std::optional<Schedule> separate_operands(const Schedule& s, const Cursor& nest,
                                          const std::map<std::string, int64_t>& sizes);

}  // namespace exotune
