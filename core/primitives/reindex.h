#pragma once
// The iterations of a sum counted in another way: in blocks, as one, with some left out.
// How to read an entry: core/primitives/primitives.h.
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// A loop that a sum is to run on: its name, its extent as text in the scope of the nest, and its
/// value as text over the loops that there were ("k / 16").
struct CountedLoop {
  std::string name, extent, value;
};

/// What a loop that there was is, as text over those that there will be: {"k", "16*ko + ki"}.
using FormerLoops = std::vector<std::pair<std::string, std::string>>;

/// for i in seq(0, M): for k in seq(0, K): x[i] += A[i, k]
///   ->  for i in seq(0, M): for ko in seq(0, (K + 15) / 16): for ki in seq(0, 16):
///         if 16*ko + ki < K: x[i] += A[i, 16*ko + ki]
///       loops (i, M, i), (ko, (K + 15) / 16, k / 16), (ki, 16, k % 16)
///       former i = i, k = 16*ko + ki        where 16*ko + ki < K
/// The nest holds one statement that adds to an element, or takes the greater or the smaller. Any
/// loops may stand in their place that count the same points: blocks, several as one, another
/// order. Obligation: the loops begin at 0, are sequential, their bounds are free of each other's
/// iterators and of configuration; the statement reads nothing of the buffer that it changes. Each
/// new point for which `where` holds is a former one, and leads back to itself; each former point
/// is a new one for which `where` holds, and leads back to itself: so every term of the sum is
/// there, once. What the result reads is in bounds. Sums are reordered. Forwarding: cursors into
/// the nest go. Equality saturation finds such loops: blocks of a product, and blocks that end in a
/// guard.
[[nodiscard]] ProcPtr reindex_loops(ProcPtr p, const Where& nest,
                                    const std::vector<CountedLoop>& loops,
                                    const FormerLoops& former, const std::string& where = "");

}  // namespace exotune
