#pragma once
// Outer loop vectorization: lanes that go inside the loops and conditions of their body. Start at
// sink_lanes.
#include "core/primitives/primitives.h"

namespace exotune {

/// for l in seq(0, n): { t : T ; s1 ; for r: s2[t] ; s3 }
///   ->  t : T[n] ; for l: s1 ; for r: for l: s2[t[l]] ; for l: s3
///
/// Every loop or condition in the body comes to stand around the lanes, however deep. Statements
/// side by side stay together, a guard `if l < e` around the body stays with each of them, and what
/// the body allocates is there once for each lane (expand_dim, lift_alloc, fission, lift_scope,
/// reorder_loops). Unlike sink_loop (lane_rows.h), which takes what it gets, it is all or nothing,
/// and its statements become instructions. The lanes are the last dimension of what was allocated;
/// what is small becomes registers. SchedulingError: there is no such scope, one depends on l, or
/// the core refuses: iterations that do not commute.
ProcPtr sink_lanes(ProcPtr p, const Where& loop, const MemoryPtr& registers);

/// for u: { t : T ; s1 ; for r: s2[t] ; s3 }
///   ->  t : T[U] ; for u: s1 ; for r: for u: s2[t[u]] ; for u: s3
///
/// Unroll-and-jam of an imperfect nest, but for the unrolling: a few rows, or vectors, go inside
/// all loops, where they share what does not change with u. Loops over `lanes` are what copies are
/// of, and stay inside. What was allocated gets a first dimension. Errors as sink_lanes.
///
/// Proposed for a few rows of a loop around vectors that hold short loops.
ProcPtr sink_copies(ProcPtr p, const Where& loop, const std::string& lanes = "");

/// Is there a loop or a condition in the body, and are all of them the same for all lanes?
bool holds_scopes(const Proc& p, const Path& loop);

}  // namespace exotune
