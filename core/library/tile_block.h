#pragma once
// Products of narrow elements on instructions that multiply whole tiles held in registers of their
// own (AMX's tdpbssd, tdpbf16ps), whatever a target's text states as
//     for i: for j: for k: for r: {x = a[i, g*k + r]; y = b[k, g*j + r]; c[i, j] += x * y}
// over a register file. Made of primitives only.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/library/vectorize.h"

namespace exotune {

/// c[i, j] += a[i, g*k + r] * b[k, g*j + r] over rows, columns, depth and groups of neighbours.
struct TileInstr {
  ProcPtr proc;
  int64_t rows = 0, columns = 0, depth = 0, group = 0;
  ScalarType a{}, b{}, sum{};
  MemoryPtr memory;  // of all three
};

/// Those of the instructions that have this form.
std::vector<TileInstr> tile_instructions(const std::vector<ProcPtr>& instrs);

/// The one that tile_block takes at the first nest over loops of these names; nothing where it
/// would refuse for want of a nest or an instruction.
std::optional<TileInstr> tile_instruction_at(const ProcPtr& p, const std::string& i,
                                             const std::string& j, const std::string& k,
                                             const std::vector<ProcPtr>& instrs);

/// for i: for j: for k: { a = A[.., k]; b = B[.., k, j]; C[.., j] += a * b }
///   ->  B_dot: B in strips of a tile's columns, groups of neighbours in k side by side
///       for io: for jo: { C_tile, rows x columns registers, from C or from what begins the sums ;
///                         for kt: { A_tile = A ; B_tile = B_dot ; C_tile += A_tile * B_tile } ;
///                         C = C_tile }
/// at every nest over loops of these names, literal extents of one tile at least. What whole tiles
/// leave of k, j and i stays in nests of its own over the same names, for dot_block. Registers are
/// allocated in front of all loops that are not parallel, so that a register file is set up once.
/// SchedulingError: there is no such nest, or no instruction of its types.
/// Proposed for products of narrower elements than their sum, where an instruction multiplies tiles
/// of them: rows x columns that the register file holds with their operands.
ProcPtr tile_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                   int64_t rows, int64_t columns, const VectorUnit& unit);

}  // namespace exotune
