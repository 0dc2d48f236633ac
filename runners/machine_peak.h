#pragma once
// What this machine can do at most, measured: the roof that "% of peak" is a part of.
#include <string>

#include "runners/candidate.h"
#include "runners/toolchain.h"

namespace exotune {

/// One core's read bandwidth, GB/s, by where the data lies.
struct Bandwidth {
  double l1 = 0, l2 = 0, l3 = 0, dram = 0;
  double dram_copy = 0;  // bytes read plus written
};

/// GFLOP/s of independent fused multiply-adds in registers, for `isa` "avx512", "avx2" or "scalar"
/// and f32 or f64; for bf16 of its dot products into f32 (vdpbf16ps), for i8 and ui8 of those into
/// i32 (vpdpbusd, Gop/s), avx512 only. The best of several short batches, about 50 ms. Throws
/// Error(kUnavailable) when the CPU lacks the instructions or the compiler fails, InputError for a
/// precision without such an instruction.
double measure_peak(const std::string& isa, ElementType precision, const std::string& cc = "");

/// About a second; buffers of half of each cache level, 256 MB for DRAM.
Bandwidth measure_bandwidth(const std::string& isa, const std::string& cc = "");

}  // namespace exotune
