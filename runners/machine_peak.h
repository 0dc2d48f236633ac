#pragma once
// What this machine can do at most, measured: the roof that "% of peak" is a part of.
#include <string>

#include "runners/candidate.h"
#include "runners/roof.h"

namespace exotune {

/// One core's read bandwidth, GB/s, by where the data lies.
struct Bandwidth {
  double l1 = 0, l2 = 0, l3 = 0, dram = 0;
  double dram_copy = 0;  // bytes read plus written
};

/// GFLOP/s of one core, at the width of the toolchain's vectors: for f32 and f64 of independent
/// fused multiply-adds in registers, for other precisions (Gop/s) of the instruction that the
/// target's text names for them ([roof.TYPE]). The best of several short batches, about 50 ms.
/// Throws Error(kUnavailable) when the CPU lacks what the code needs, the text names no instruction
/// or the compiler fails.
double measure_peak(const TargetToolchain& toolchain, ElementType precision);

/// The loop that measures the peak. Compiled into `directory`, where it stays. Throws as
/// measure_peak does.
Roof make_roof(const TargetToolchain& toolchain, ElementType precision,
               const std::string& directory);

/// About a second; buffers of half of each cache level, 256 MB for DRAM.
Bandwidth measure_bandwidth(const TargetToolchain& toolchain);

}  // namespace exotune
