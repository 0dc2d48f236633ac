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
/// Divides every loop over `loop` (only this one, given by a cursor) by sizes[0] with an exact
/// boundary nest (tail=cut), and moves the outer part outside the enclosing loop over `outside` (""
/// leaves it in place). A boundary of unknown extent is divided by the next size, and so on. Main
/// and boundary inner loops are all called names[1]. A loop of literal extent <= the size becomes
/// one block.
/// Proposed for loops of contractions and convolutions, in front of a farther cache: sizes that
/// fill a share of each cache, and multiples of the register tile.
ProcPtr block_loop(ProcPtr p, const Where& loop, const std::vector<int64_t>& sizes,
                   const std::vector<std::string>& names, const std::string& outside = "");

/// What tiling made: the loops inside the tiles, outermost first, as cursors of `proc`.
struct Tiled {
  ProcPtr proc;
  std::vector<Cursor> inner;
};

/// for i: for j: s -> for io: for jo: for ii: for ji: s. Exo 2 section 3.2; loops outermost first.
/// What a tail leaves beside a tile stays in loops of its own, untiled further.
Tiled tile_loops(ProcPtr p, const std::vector<std::pair<Where, int64_t>>& loops, Tail tail);

/// As tile_loops, for a nest of perfectly nested loops given by its outermost one: sizes[k] for the
/// k-th loop down. With tail=cut each of the 2^n combinations of whole and left-over tiles is a
/// nest of its own, and its innermost loops have the names of the whole tile's. SchedulingError
/// when there are fewer loops than sizes.
ProcPtr tile_loops_bottom_up(ProcPtr p, const Where& outermost, const std::vector<int64_t>& sizes,
                             Tail tail);

/// for io: for jo: s -> for jo: for io: s, as lift_scope, where other statements stand beside
/// `scope` too: they get a copy of the scope around them.
ProcPtr lift_alone(ProcPtr p, const Where& scope);

/// for i: for j: s -> for io: for jo: f(...), the rest of each loop after it: the nest of loops
/// from `outermost` in, divided by the extents of the loops that `instr` is, and replaced by it.
/// `block` > 1: so many calls in each dimension stand together, for iob: for job: for io: for jo:
/// f(...), and in what blocks leave over the instruction is used as far as it fits.
/// SchedulingError when the instruction is no nest of loops of literal extents, or does not fit.
/// Proposed where the target has an instruction of exactly this shape: transposes, and where a
/// cache line holds several of its rows, blocks of whole lines.
ProcPtr tile_to_instr(ProcPtr p, const Where& outermost, const ProcPtr& instr, int64_t block = 1);

/// A triangle in steps of `size` rows: for i in seq(0, n): for j in seq(l, i + c): s
///   -> for io: { for ii in seq(0, q): for j in seq(l, q*io + c): s        the rectangle
///                for ii in seq(0, q): for j in seq(q*io + c, q*io + ii + c): s }   the corner
///      and the rows left over. Loops whose lower bound grows (seq(i + c, n)), or shrinks with i,
///      are
/// cut where the rows of a block agree. `inner` names the loops inside i to cut; corners keep the
/// name. SchedulingError when no loop over `inner` depends on `outer`.
ProcPtr split_triangle(ProcPtr p, const std::string& outer, const std::string& inner, int64_t size);

/// Moves the for or if at `scope` outward n times.
ProcPtr lift_scope_n(ProcPtr p, const Where& scope, int n);

/// Splits the loop after every statement of its body that allows it.
ProcPtr fission_as_much_as_possible(ProcPtr p, const Where& loop);

/// for i in seq(0, n) -> for i in seq(0, ceil(n/q)*q): if i < n. The loop's bound becomes a
/// multiple.
ProcPtr round_loop(ProcPtr p, const Where& loop, int64_t q, const std::vector<std::string>& names);

/// What follows an interleaved loop: a loop of single iterations; nothing (the factor divides it);
/// loops of factor / 2, / 4, ... iterations at a time; or a case, unrolled, for each number left.
enum class InterleaveTail : uint8_t { kCut, kPerfect, kRecursive, kSpecialize };
/// Divides by `factor` and unrolls the inner loop; the rest follows as `tail` says.
/// Proposed for loops beside a sum: 2 or 4 copies.
ProcPtr interleave_loop(ProcPtr p, const Where& loop, int64_t factor,
                        InterleaveTail tail = InterleaveTail::kCut);

/// for i: for j: s -> for io: for j: {s(ii = 0); s(ii = 1); ...}: unroll the outer, jam the inner.
/// Proposed for stencils: 2 or 4 rows, which read rows in common.
ProcPtr unroll_and_jam(ProcPtr p, const Where& outer, int64_t factor);

/// Unrolls every loop whose iterator picks a register of `memory` (compilers keep registers in
/// arrays only where every index is a constant), then splits the buffers into single registers.
/// Proposed after a register tile, always.
ProcPtr unroll_registers(ProcPtr p, const MemoryPtr& memory);

/// Unrolls every dimension but the vector one of each allocation in `memory`; what is indexed by a
/// variable stays an array.
ProcPtr unroll_buffers(ProcPtr p, const MemoryPtr& memory);

/// Unrolls every loop over `loop`, and removes those of one iteration.
/// Proposed by the dynamic program, at the end, for what its plan unrolls, and for short sums (a
/// filter's) behind their register tile.
ProcPtr unroll_all(ProcPtr p, const std::string& loop);

}  // namespace exotune
