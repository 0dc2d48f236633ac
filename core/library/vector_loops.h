#pragma once
// What the schedules of level 1 and level 2 kernels share: finding one's way in the loops that
// divide_loop leaves, and turning a finished nest of lane loops into instructions.
#include <functional>
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// Null when no loop stands there.
const For* find_loop(const ProcPtr& p, const Path& path);

/// The loop right after the one at `path` that divide_loop made of its boundary, perhaps under a
/// guard; the empty path when there is none.
Path boundary_after(const ProcPtr& p, const Path& path, const std::string& name);
/// Is the nest at `path` a single sum whose target does not move along the loop over `iter`?
bool is_reduction(const ProcPtr& p, const Path& path, Sym iter);

/// The statements of a block of `count` rows, the loop at `rows`, become loops of their own as far
/// as they may; scalars get a place for each row. `rows` goes on to be the first of the loops.
ProcPtr separate_rows(ProcPtr p, Path& rows, int64_t count);

/// A nest `for row: for lane: r[row] += acc[row, lane]` becomes instructions: those that add up
/// the lanes of several registers first, as many rows at a time as one of them takes.
ProcPtr add_up_lanes(ProcPtr p, const Path& rows, const VectorUnit& unit);
/// Has the unit an instruction that adds up the lanes of `rows` registers, or of a part of them,
/// into whole vectors? Those can be loaded at once; what was stored in parts has to reach the cache
/// first.
bool adds_up_to_vectors(const VectorUnit& unit, int64_t rows);

/// A nest `for seq: for row: for lane: r[row] += e` becomes instructions, with an accumulator per
/// row. `top` is the sequential loop.
ProcPtr finish_sums(ProcPtr p, const Path& top, const VectorUnit& unit);
/// A nest `for seq: [for u:] for lane: s` becomes instructions, what does not change in front.
ProcPtr finish_elements(ProcPtr p, const Path& top, const VectorUnit& unit);
/// A nest `for seq: [for u:] for lane: { s1 ; for r: s2 ; .. }` becomes instructions inside the
/// loops over r (sink_lanes), what does not change with a loop in front of it. `inner`: the loops
/// over u and over lanes, or these alone.
ProcPtr finish_around_loops(ProcPtr p, const Path& top, const std::vector<Path>& inner,
                            const VectorUnit& unit);

/// `guarded` of the loop at `top`, whose last vector may be a part of one. Where no instruction of
/// that kind is there (narrow elements, functions), of the whole vectors alone: the elements left
/// over have a loop of their own behind it. Throws what `guarded` throws of those, and of loops
/// without a literal bound.
ProcPtr whole_and_rest(ProcPtr p, const Path& top, int64_t lanes,
                       const std::function<ProcPtr(const ProcPtr&)>& guarded);

/// Unrolls the loops of this name that have literal bounds, wherever they are.
ProcPtr unroll_named(ProcPtr p, const std::string& name);

}  // namespace exotune
