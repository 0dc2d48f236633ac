#pragma once
// A loop whose bound follows the iterator of one outside it: what makes a band a triangle. Start at
// following_loop.
#include <optional>

#include "core/ir/path.h"
#include "core/ir/proc.h"

namespace exotune {

/// The loop at level `inner` of a band follows that at `outer` with one of its bounds, one step for
/// one.
struct FollowingLoop {
  int outer = 0, inner = 0;
  bool upper = true;  // the upper bound follows
};

/// The first such pair among the `depth` perfectly nested loops at `band`.
std::optional<FollowingLoop> following_loop(const Proc& p, const Path& band, int depth);

/// The bound of the loop `f` that follows `row`, where all rows of a block have begun, or none has
/// ended yet: a whole number of blocks, so that vectors and tiles divide what is common.
ExprPtr common_bound(const For& f, Sym row, bool upper, int64_t block);

}  // namespace exotune
