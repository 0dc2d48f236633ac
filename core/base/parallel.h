#pragma once
// Work that may be done in any order, by as many threads as the machine has. Start at in_parallel.
// The one place that includes TBB, whose templates are slow to compile.
#include <cstddef>
#include <functional>

namespace exotune {

/// Calls `task` with 0 .. count-1, from several threads, and returns when all are done; tasks may
/// do the same themselves. Each writes a place of its own, so that no result depends on who was
/// first. The first exception is thrown here, and no further task begun. Tasks have the deadline
/// of the thread that calls (DeadlineScope).
void in_parallel(size_t count, const std::function<void(size_t)>& task);

}  // namespace exotune
