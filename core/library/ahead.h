#pragma once
// Operands packed ahead: a matrix that is the same in many calls (the weights of a layer) is
// brought once into the order that the kernel reads it in. Made of primitives only. Start at
// pack_ahead.
//
// What is proved is that the proc, as scheduled, does what it did: it packs, then calls the kernel.
// split_ahead takes the two apart, so that a program packs once and calls the kernel often.
#include <optional>
#include <string>
#include <vector>

#include "core/codegen/codegen.h"
#include "core/primitives/primitives.h"

namespace exotune {

/// s(W)  ->  W_ahead : T[..]; NAME_pack_W(W, W_ahead); s(W_ahead)
///
/// `tiles` has one number for each dimension of the argument `buffer`: above 1 it splits that
/// dimension into (blocks, places in a block), the last block padded. `order` then says which of
/// the resulting dimensions comes first, second, ...: tiles [1, 64] and order [1, 0, 2] lay W[K, N]
/// out as W_ahead[N / 64, K, 64], strips of 64 columns with their rows one after the other.
/// SchedulingError when `buffer` is no argument or is written.
/// Proposed for an operand that a caller may prepare: the same strips, before the call.
ProcPtr pack_ahead(ProcPtr p, const std::string& buffer, const std::vector<int64_t>& tiles,
                   const std::vector<int>& order);

/// A proc that packs operands ahead, in its parts.
struct AheadParts {
  ProcPtr whole;                     // the proc: packs, then calls `kernel`
  std::vector<ProcPtr> packs;        // NAME_pack_W(.., W, W_ahead)
  std::vector<Sym> sources;          // of each: the argument of `whole` that it reads
  std::vector<Sym> packed;           // of each: the allocation in `whole` that it fills
  ProcPtr kernel;                    // NAME_packed: the other arguments, and W_ahead for W
  std::vector<std::string> layouts;  // of each: its order in words
};

/// Nothing for a proc that pack_ahead did not make.
std::optional<AheadParts> split_ahead(const ProcPtr& p);

/// generate_c for one proc. Of one that packs operands ahead the file has NAME, each NAME_pack_W
/// and NAME_packed, and its header says in which order they take the operands.
CFile generate_kernel(const ProcPtr& p, CodegenOptions options);

}  // namespace exotune
