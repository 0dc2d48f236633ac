#pragma once
// Vectors that overlap in memory, loaded once: what lies between two of them is shifted together
// from registers. Start at shift_loads.
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// v = x[i : i + 8]; w = x[i + 1 : i + 9]
///   ->  a = x[i : i + 8]; b = x[i + 8 : i + 16]; v = a; w = a shifted by 1, filled from b
///
/// In every loop over `loop` of vectorized, unrolled code: loads of one row of a buffer at literal
/// distances, some of which overlap, become whole vectors side by side from the first of them on,
/// each loaded once, and the instructions that shift two registers together make the others.
/// Neighbours along a row (stencils, filters) then are no loads that touch two lines each, and what
/// several rows of results read of one row is loaded once. The last vector is guarded where it may
/// leave the buffer. Made of inline_call, cut_loop, stage_mem and replace, each proved.
/// SchedulingError: nothing overlaps, or `instrs` has no such instruction, or the buffer is written
/// in between.
/// Proposed for stencils and filters, after their loops were vectorized, 2 or 4 vectors at once.
[[nodiscard]] ProcPtr shift_loads(ProcPtr p, const std::string& loop, const MemoryPtr& memory,
                                  const std::vector<ProcPtr>& instrs);

/// Is the instruction `for i: dst[i] = src[i + k]; for i: dst[i + n - k] = next[i]`, on registers?
bool shifts_registers(const Proc& instr);

}  // namespace exotune
