#pragma once
// Sums whose lanes are added up late, or never one by one: dot products of narrow integers, on
// instructions that multiply neighbours and add them to one lane (vpmaddwd), and sums of sums, each
// with a factor (blocks of bytes with a scale, quadratic forms). Made of primitives only. Start at
// optimize_sums_of_sums.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// How many neighbours the unit's instructions add to one lane, the most first: the groups of
///     for l in seq(0, lanes): for r in seq(0, group): dst[l] += x[group*l + r] * w[group*l + r]
/// with operands in memory.
std::vector<int64_t> lane_groups(const VectorUnit& unit);

/// for k: t += x[k] * w[k]
///   ->  acc = 0 ; for kv: for kl: for kg: acc[kl] += x[..] * w[..] ; for kl: t += acc[kl]
///
/// at every loop over `loop` that is one sum into an element that stays, or several (each has a
/// loop of its own then), by an instruction that takes groups of neighbours; `interleave`
/// accumulators, for `rows` iterations of `outer` at a time, which share what they read. What is
/// left of k is summed behind, in vectors where there are whole ones. SchedulingError: no such
/// loop, or no instruction fits it.
///
/// Proposed for dot products of narrow integers: 1, 2 or 4 accumulators, or several rows.
ProcPtr optimize_dots(ProcPtr p, const std::string& loop, const VectorUnit& unit,
                      int64_t interleave, const std::string& outer = "", int64_t rows = 1);

/// for b: { t = 0 ; for k: t += e ; y += c * t }
///   ->  y_acc = 0
///       for b: { acc = 0 ; for kv: for kl: acc[kl] += e ; for kl: y_acc[kl] += c * acc[kl] }
///       for kl: y += y_acc[kl]
///
/// at every loop over `outer` whose body holds one over `inner` of literal extent, as many elements
/// as whole vectors have: the lanes are added up once for all of b. c may be several factors or
/// none, and a sum of integers may be converted in front of y (distribute_factor proves that it
/// does not wrap around). Groups of neighbours where an instruction takes them (lane_groups);
/// `rows` iterations of `row`, the loop around b, at a time. SchedulingError: there are no such
/// loops.
///
/// Proposed for sums of short sums: blocks of a quantized row, rows of a quadratic form.
ProcPtr optimize_sums_of_sums(ProcPtr p, const std::string& outer, const std::string& inner,
                              const VectorUnit& unit, const std::string& row = "",
                              int64_t rows = 1);

}  // namespace exotune
