#pragma once
// Reductions with many accumulators, by rewrites: a sum into one element becomes sums per lane (and
// per unrolled copy), added up at the end. Exo 2 section 6.1.1 (parallelize_reduction).
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// What to call the accumulators of the one sum in the nest at `top`: its result's name and
/// "_acc", with underscores behind it where the nest has buffers whose names begin like that.
std::string accumulator_of(const ProcPtr& p, const Path& top);

/// for o: for a: ... for b: r += e   ->   acc[a.., b..] = 0; for o: for a.. b..: acc[a, b] += e;
///                                         for a.. b..: r += acc[a, b]
///
/// `outer` is the sequential loop o; the loops perfectly nested inside it, down to the reduction,
/// have literal extents and become the dimensions of the accumulator, which lives in `memory`. A
/// guard around the reduction is allowed. Where the innermost loop has several statements, each sum
/// among them (sums_beside) gets an accumulator: name, name_1, .. The result's flag says that sums
/// are reordered.
/// Proposed for a sum over more than the caches hold: each of several streams has its own.
ProcPtr parallelize_reduction(ProcPtr p, const Where& outer, const std::string& name,
                              MemoryPtr memory);

/// What the loop's own body adds to and does not move, each element once, as it stands there; none
/// where it holds loops or guards.
std::vector<const Reduce*> sums_beside(const For& loop);

/// The same for one of several sums that the body adds to: `lanes` are the loops under `outer` that
/// get copies, outermost first; those that choose the sum's element do not. What is made stands
/// around `outer`: the allocation and the zeroes in front of it, the additions behind it.
ProcPtr accumulate(ProcPtr p, const Cursor& outer, const std::vector<Cursor>& lanes,
                   const Reduce& sum, const std::string& name, MemoryPtr memory);

/// A scalar sum r over `loop`, `factor` iterations at a time into as many local scalars: their
/// chains of additions run side by side, where one chain would wait for each addition. The
/// iterations left over are summed in a local scalar of their own.
/// Proposed for one sum: as many chains as hide the latency.
ProcPtr interleave_reduction(ProcPtr p, const Where& loop, int64_t factor, const std::string& name);

}  // namespace exotune
