#pragma once
// Matrix products by name: the micro-kernel and the blocked product around it, from the operators
// of contraction.h and blocking.h. Exo 2 section 6.2 and appendix A (gen_ukernel, gemm).
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// register_block, then every loop and buffer over registers unrolled: straight code for each tile.
ProcPtr gen_ukernel(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                    const VectorUnit& unit);

/// Sizes of the blocks, in elements; 0 leaves a loop whole. `nr` is a multiple of the lanes.
struct GemmBlocks {
  int64_t mr = 6, nr = 16;         // the register tile
  int64_t kc = 0, mc = 0, nc = 0;  // for the caches: depth, rows, columns
  bool pack = true;                // the operand that runs along the columns, in strips of nr
};

/// for i: for j: for k: C[i, j] += A[i, k] * B[k, j]  ->  blocks for the caches, B packed in
/// strips, and a register tile at the bottom. Exact for any extents: boundaries get smaller tiles
/// and guarded vectors. SchedulingError when there is no such nest, or a block does not fit it.
ProcPtr gemm(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
             const VectorUnit& unit, const GemmBlocks& blocks);

}  // namespace exotune
