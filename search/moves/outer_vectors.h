#pragma once
// Vectors along a loop that others stand inside of. Start at outer_vectors_of.
#include <set>
#include <vector>

#include "search/moves/finishes.h"

namespace exotune {

/// for m: for i: { s = 0 ; for k: s += p[m, k] * x[i + k] ; y[m, i] = f(s) }
///   ->  vectors of i, the loop over k around them (optimize_level_1); some at a time; some rows
///       of m at a time, whose sums share each vector of x, or whose chains of values run side by
///       side (divide_loop, sink_copies)
///
/// For loops whose inner loops have the same bounds in all iterations, and whose elements lie side
/// by side along it, or are read a few apart. Sums that are elements of arrays become scalars first
/// (keep_sums). As many rows as leave registers for what they read. `written_out`: loops whose
/// inner ones are unrolled by others; of these only rows.
std::vector<Finish> outer_vectors_of(const Outline& o, const Target& target,
                                     const ValueList& instructions,
                                     const std::set<int>& written_out = {});

/// Do loops inside `loop` add to elements of arrays that they do not choose? Then keep_sums makes
/// scalars of them.
bool holds_array_sums(const Outline& o, int loop);

}  // namespace exotune
