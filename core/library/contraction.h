#pragma once
// Operators for contractions, nests whose innermost statement is `out[..] += a[..] * b[..]` (matrix
// products, matrix-vector products, convolutions): packing, register blocking, the micro-kernel.
// Made of primitives only. Exo 2 section 6.2; thesis section 7.
#include <string>
#include <vector>

#include "core/library/vectorize.h"

namespace exotune {

/// Copies what each loop over `before` reads of `buffer` into a packed buffer in front of that
/// loop. `strip` > 0 lays the last dimension out in strips of that many elements, strip outermost:
/// B[k0:k0+kc, 0:N] -> B_pack[N/strip, kc, strip], and copies strip by strip; 0 keeps the order.
/// The last strip is padded (and its padding never read). `rows`: what the loop over the copy's
/// first dimension is called. `dim`: the strips are of this dimension of the buffer (-1: the last
/// one), which becomes the copy's last: B[j0:j0+jc, 0:K] -> B_pack[jc/strip, K, strip] with 0, in
/// register tiles where an instruction transposes. SchedulingError when one element of it is read.
/// Proposed for the operand that vectors run along, in the dimension that they run along, and for
/// one whose rows a sum goes across: strips of the register tile, or turned.
ProcPtr pack_operand(ProcPtr p, const std::string& buffer, const std::string& before, int64_t strip,
                     const VectorUnit& unit, const std::string& rows = "i0", int dim = -1);

/// The micro-kernel. At every nest `for i: for j: for k: out[i, j] += a * b` over loops of these
/// names with literal extents of i and j: keeps the out tile in registers for the whole k loop,
/// vectorizes j, keeps the vectors of one k that all rows share in registers (b's; of a sum of
/// products each factor's), and unrolls i and j. Exact for any extents: a last partial vector is
/// guarded. A nest `for i: for j: {out[i, j] = c; for k: ...}`
/// sets the registers and reads nothing of out. `apart`: the sum starts from zero and is added to
/// out behind the k loop, and out's lines are asked for one by one while it runs (prefetch_during),
/// so that no tile waits for memory. SchedulingError when no loop over `i` is such a nest, and when
/// rows lie so far apart that all between is more registers than are written and than there are.
/// Proposed for products: rows x vectors whose sums and operands fit the registers, largest first.
ProcPtr register_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                       const VectorUnit& unit, bool apart = false);

}  // namespace exotune
