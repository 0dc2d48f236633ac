#pragma once
// Products whose operands are narrower than their sums (bytes summed in words, brain floats in
// floats), on instructions that multiply several neighbours of the depth at once and add them to
// one lane: vpmaddwd, vpdpwssd, vpdpbusd, vdpbf16ps and whatever else a target's text states as
//     for l in seq(0, lanes): for r in seq(0, group): dst[l] += x[r] * w[l, r].
// Made of primitives only.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/library/vectorize.h"

namespace exotune {

/// dst[l] += x[r] * w[l, r] over `lanes` and `group`, with the types of the three.
struct DotInstr {
  ProcPtr proc;
  int64_t lanes = 0, group = 0;
  ScalarType x{}, w{}, sum{};
};

/// Those of the instructions that have this form.
std::vector<DotInstr> dot_instructions(const std::vector<ProcPtr>& instrs);

/// The one that dot_block takes at the first nest over loops of these names; nothing where it would
/// refuse for want of a nest or an instruction.
std::optional<DotInstr> dot_instruction_at(const ProcPtr& p, const std::string& i,
                                           const std::string& j, const std::string& k,
                                           const std::vector<ProcPtr>& instrs);

/// for i: for j: for k: { a = A[.., k]; b = B[.., k, j]; C[.., j] += a * b }
///   ->  B_dot: B in strips of one vector's columns, groups of neighbours in k side by side
///       A_dot: A, where the instruction wants wider elements than it has; where it wants unsigned
///       ones of A's width, A_shift = A + 128 (or 32768), and what that adds to a column of C is
///       summed once and taken off in the tiles (dot_shift.h)
///       tiles of `rows` x `vectors` registers, summed over k by the instruction
/// at every nest over loops of these names, literal extents. Where C[.., j] = c stands in front of
/// k, the tiles begin with c in registers and nothing of C is read. What is left of k's last group
/// and of j's last vector stays in loops of its own behind, in vectors where the unit has them. Of
/// the instructions that fit (their operands' types are those of A and B, or wider by
/// set_precision) the one of the largest group is taken. Nests that do not fit (fewer terms than a
/// group, one column) stay as they are beside one that does.
/// SchedulingError: there is no such nest, no instruction, or none fits.
/// Proposed for products of narrower elements than their sum, where an instruction sums groups of
/// them: rows x vectors that fill the registers, the depth cut for each cache.
ProcPtr dot_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                  int64_t rows, int64_t vectors, const VectorUnit& unit);

}  // namespace exotune
