#pragma once
// Asking for what comes further on in the rows that a loop reads. Start at prefetch_rows.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for k: s1(x[r1, k]); s2(x[r2, k])
///   ->  for k: s1(x[r1, k]); prefetch(x[r1, k + d]); s2(x[r2, k]); prefetch(x[r2, k + d])
///
/// In every loop without loops in it, behind each statement that reads a piece of a row of
/// `buffer` which the loop goes along: asks for the line `lines` (of 64 bytes) further on in the
/// row, unless it ends before. One request behind each statement, not all at once: what is needed
/// now is not kept waiting. Several rows at a time are more streams than prefetchers of caches
/// follow; in the distance of 8 lines the third cache answers. "" stands for every argument of
/// `dimensions` or more. SchedulingError when no loop goes along rows of it. Made of add_prefetch.
/// Proposed by neighbours: rows of what the nearest caches do not hold, 8 lines ahead, and vectors,
/// too, 32 ahead.
[[nodiscard]] ProcPtr prefetch_rows(ProcPtr p, const std::string& buffer, int64_t lines = 8,
                                    int64_t dimensions = 2);

}  // namespace exotune
