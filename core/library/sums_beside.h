#pragma once
// Several sums in one pass: mean and square, both parts of a complex product. Start at
// optimize_sums_beside.
#include "core/library/vectorize.h"

namespace exotune {

/// Does the loop at `top`, with no loop inside it, add to elements that stay the same, beside one
/// another or beside other statements?
bool has_sums_beside(const ProcPtr& p, const Path& top);

/// for i: { r += e1 ; q += e2 ; .. }
///   ->  racc, qacc = 0 ; raccs, qaccs = 0
///       for `interleave` vectors at a time: { raccs[u] += e1 ; qaccs[u] += e2 ; .. }
///       racc += raccs[u] ; qacc += qaccs[u]
///       for the vectors left: { racc += e1 ; qacc += e2 ; .. } ; r += lanes of racc ; ..
///       and the elements left, one by one
///
/// Each sum has accumulators of its own, and all that is read is read once. The loops over vectors
/// of one iteration are called as the loop and "u": they unroll. SchedulingError: a sum is used
/// otherwise in the loop, or there is no whole vector.
ProcPtr optimize_sums_beside(ProcPtr p, const Path& top, const VectorUnit& unit,
                             int64_t interleave);

/// for r: for c: { q += e1(r, c) ; s += e2(r, c) }
///   ->  qacc, sacc = 0 ; for r: for cv: { qacc[cv] += e1 ; sacc[cv] += e2 } ; q += lanes ; s += ..
///
/// Sums over blocks of short rows: one addition of lanes for all rows. Every loop over `outer` that
/// holds nothing but one over `inner` of literal extent; up to four vectors of a row have
/// accumulators of their own, and what is left of a row is summed element by element, behind.
/// SchedulingError: there is no such pair of loops, or no whole vector in a row.
/// Proposed for windows and blocks of pixels: rows of one to eight vectors.
ProcPtr optimize_block_sums(ProcPtr p, const std::string& outer, const std::string& inner,
                            const VectorUnit& unit);

}  // namespace exotune
