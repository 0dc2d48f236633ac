#pragma once
// Register tiles of products whose operands are narrower than their sums, on the target's dot
// instructions (core/library/dot_block.h) and on those that multiply whole tiles in registers of
// their own (core/library/tile_block.h): the few shapes that fill the register files, with the
// depth cut for the caches.
#include "hw/machine.h"
#include "search/moves/finishes.h"

namespace exotune {

/// For a perfect nest whose three innermost loops are rows, columns and depth of such a product;
/// what sets its sums may stand in front of the depth, which then stays whole.
/// Empty: no such nest, or no such instructions among `instructions`.
std::vector<Finish> dot_tiles_of(const ProcPtr& p, const Target& target,
                                 const std::vector<TargetLevel>& levels,
                                 const ValueList& instructions);

/// Does an instruction sum products of narrower elements into this type?
bool has_dot_instruction(ScalarType sum, const ValueList& instructions);

}  // namespace exotune
