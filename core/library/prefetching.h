#pragma once
// Asking for data before it is needed: what a later iteration of a loop uses of a buffer. Made of
// the primitive add_prefetch; means nothing to the result. Start at prefetch_ahead.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for r: s(x[r])  ->  for r: prefetch(x[r + distance]); s(x[r])
///
/// At every loop over `loop` whose body uses another rectangle of `buffer` in each iteration: asks
/// for the rectangle of `distance` iterations later. What is beyond the buffer is not asked for.
/// "" stands for every argument. SchedulingError when no loop goes through rectangles so.
ProcPtr prefetch_ahead(ProcPtr p, const std::string& loop, const std::string& buffer,
                       int64_t distance);

/// for r: for ..: for k: s(x[r])  ->  for r: for ..: for kp, k: prefetch(a line of x[r + 1]);
/// s(x[r])
///
/// At every loop over `within` under one over `loop`: the rectangle of `buffer` that the next
/// iteration of `loop` uses is asked for line by line, evenly over the iterations in between, so
/// that the requests never queue. Extents must be literal. SchedulingError when there is no such
/// loop, or there are more lines than iterations.
ProcPtr prefetch_meanwhile(ProcPtr p, const std::string& loop, const std::string& within,
                           const std::string& buffer = "");

}  // namespace exotune
