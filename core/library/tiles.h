#pragma once
// What the micro-kernels share: walking a nest by paths, and bringing what a loop touches into a
// tile whose last dimension is one vector. Start at stage_around.
#include <string>
#include <vector>

#include "core/library/inspection.h"
#include "core/primitives/primitives.h"

namespace exotune {

const For& loop_at(const ProcPtr& p, const Path& path);

/// Stages `buffer` around `length` statements from `path` on: allocation, load loops (unless
/// written first), the statements, store loops (if written). The allocation then is at `path`. A
/// window one element wide loses that dimension; with `keep_last` not the last one. `accum`: the
/// tile starts from zero and is added to the buffer, which is only summed into. `how`: the window
/// is that of these accesses; stage_mem proves that the others are elsewhere.
ProcPtr stage_around(ProcPtr p, const Path& path, Sym buffer, const std::string& name,
                     int length = 1, bool keep_last = false, bool accum = false,
                     Touch how = Touch::kAny);

/// for i: for j: { s[i, j] += a * b ; s[i, j] += c * d }
///   ->  for i: for j: s[i, j] += a * b ; for i: for j: s[i, j] += c * d
/// where each of several terms that add to one array reads along j what all i share, and no other
/// term reads it: the vectors of one term at a time are in registers. Gives how many nests there
/// are now, one behind the other at `rows`.
[[nodiscard]] int terms_apart(ProcPtr& p, const Path& rows);

/// for i: for j: s  ->  t : T[J] ; for j: t[j] = e ; for i: for j: s[t[j] for e]
/// for every element e that the statements s read along j, by its last index, and that is the same
/// for all i (of literal extent). Where s reads the buffer in no other way it is stage_around,
/// otherwise that element is bound to a name, which leaves the loops; the other reads stay. The
/// tiles lie in vectors of `lanes` elements in `memory`.
struct SharedTiles {
  ProcPtr proc;
  std::vector<Path> loads;  // for j: t[j] = e, in their order
  Path rows;                // the loop over i, behind them
};
SharedTiles stage_shared(ProcPtr p, const Path& rows, int64_t lanes, const MemoryPtr& memory);

/// c += a * b + d * e - f * g  ->  c += a * b ; c += d * e ; c += -f * g
/// each a vector instruction, where the sum of all would be products and sums of their own. Other
/// sums stay, as do differences of integers.
ProcPtr products_apart(ProcPtr p, const Path& stmt);

/// Splits the last dimension of the allocation at `path` into [.., size/q, q], padding it first.
ProcPtr split_last_dim(ProcPtr p, const Path& path, int64_t q);

/// The loop at `path` runs on to whole vectors of `lanes` elements where what it computes too much
/// is never read: then no operation of it needs a mask. Otherwise it stays as it is (integers, more
/// than one vector of a length not known).
ProcPtr run_to_whole_vectors(ProcPtr p, const Path& path, int64_t lanes);

}  // namespace exotune
