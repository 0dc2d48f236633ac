#pragma once
// What a line costs by where it lies, measured: buffers that fit one cache after the other are read
// from end to end again and again. Start at time_lines.
#include "runners/loop_timing.h"

namespace exotune {

/// Cycles for a line that lies in each cache (bytes, nearest first) and, last, in memory.
/// `vector_bytes`: of one load, a power of two. An entry that could not be measured is 0. Some
/// tenths of a second.
std::vector<double> time_lines(const std::vector<int64_t>& caches, int line_bytes, int vector_bytes,
                               const TargetToolchain& toolchain,
                               const LoopTimingOptions& options = {});

}  // namespace exotune
