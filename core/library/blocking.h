#pragma once
// Blocking and loop-order operators, made of divide_loop, fission and reorder_loops. Exo 2
// section 3.
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// for ...: for x: s  ->  for xo: for ...: for xi: s   (and the rest of x after it, as its own
/// nest)
///
/// Divides every loop over `loop` by sizes[0] with an exact boundary nest (tail=cut), and moves the
/// outer part outside the enclosing loop over `outside` ("" leaves it in place). A boundary of
/// unknown extent is divided by the next size, and so on. Main and boundary inner loops are all
/// called names[1]. A loop of literal extent <= the size becomes one block.
ProcPtr block_loop(ProcPtr p, const std::string& loop, const std::vector<int64_t>& sizes,
                   const std::vector<std::string>& names, const std::string& outside = "");

/// for i: for j: s -> for io: for jo: for ii: for ji: s. Exo 2 section 3.2; loops outermost first.
ProcPtr tile_loops(ProcPtr p, const std::vector<std::pair<std::string, int64_t>>& loops, Tail tail);

/// As tile_loops, for a nest of perfectly nested loops given by its outermost one: sizes[k] for the
/// k-th loop down. SchedulingError when there are fewer loops than sizes.
ProcPtr tile_loops_bottom_up(ProcPtr p, const Where& outermost, const std::vector<int64_t>& sizes,
                             Tail tail);

/// Moves the for or if at `scope` outward n times.
ProcPtr lift_scope_n(ProcPtr p, const Where& scope, int n);

/// Splits the loop after every statement of its body that allows it.
ProcPtr fission_as_much_as_possible(ProcPtr p, const Where& loop);

/// for i in seq(0, n) -> for i in seq(0, ceil(n/q)*q): if i < n. The loop's bound becomes a
/// multiple.
ProcPtr round_loop(ProcPtr p, const Where& loop, int64_t q, const std::vector<std::string>& names);

/// Divides by `factor` and unrolls the inner loop; the rest follows as its own loop.
ProcPtr interleave_loop(ProcPtr p, const Where& loop, int64_t factor);

/// for i: for j: s -> for io: for j: {s(ii = 0); s(ii = 1); ...}: unroll the outer, jam the inner.
ProcPtr unroll_and_jam(ProcPtr p, const Where& outer, int64_t factor);

/// Unrolls every loop whose iterator picks a register of `memory` (compilers keep registers in
/// arrays only where every index is a constant), then splits the buffers into single registers.
ProcPtr unroll_registers(ProcPtr p, const MemoryPtr& memory);

/// Unrolls every dimension but the vector one of each allocation in `memory`; what is indexed by a
/// variable stays an array.
ProcPtr unroll_buffers(ProcPtr p, const MemoryPtr& memory);

/// Unrolls every loop over `loop`, and removes those of one iteration.
ProcPtr unroll_all(ProcPtr p, const std::string& loop);

}  // namespace exotune
