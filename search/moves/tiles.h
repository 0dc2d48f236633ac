#pragma once
// Register tiles in closed form: the few shapes that fill a register file, with and without the
// operand packed, for any sum over loops whose result and one operand run along the vectors. What
// libraries do first; the spaces in search/contraction_moves.h look around it.
#include <cstdint>

#include "hw/machine.h"
#include "search/moves/finishes.h"
#include "search/nest.h"

namespace exotune {

constexpr int64_t kStandingRows = 96;  // more read a packed strip often enough for the copy to pay

/// For `nest` in the order rows, vectors, sum (contractions), or with sums of several loops:
/// r rows of v vectors with r * v sums, v vectors of each operand and one broadcast in the
/// registers, rows balanced over the extent; the sum cut where a strip of the operand would leave
/// the first cache. Products go by register_block, everything else (max, min, sums of other terms)
/// by sum_block; of large arrays whose rows step over memory with each term both operands are
/// packed. Few rows read a large operand where it stands, each tile asking for the strip beside its
/// own (prefetch_beside). Empty: no such nest.
std::vector<Finish> register_tiles_of(const Nest& nest, const Target& target,
                                      const std::vector<TargetLevel>& levels,
                                      const ValueList& instructions);

}  // namespace exotune
