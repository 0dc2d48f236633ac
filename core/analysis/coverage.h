#pragma once
// Which reads of a block surely see what the same run of the block wrote? The others are exposed:
// they see what was there before. Thesis 5.6.1 (shadowing) needs definite writes, so a write counts
// only when it is proved to happen, to exactly that element, before the read.
#include "core/analysis/overlap.h"

namespace exotune {

/// Is every element that effect `read` (a read or reduction) touches surely written earlier in the
/// same run of the block? `problem` holds the facts at the block's start; `instance` says what
/// iterators around the block mean.
bool surely_written_before(Problem& problem, const Effects& block, size_t read,
                           const Instance& instance);

/// Does any read of (or reduction into) `root` in the block see what was there before?
bool reads_earlier_value(Problem& problem, const Effects& block, Sym root);

}  // namespace exotune
