#pragma once
// The sum of products that a device's array could do, as it stands in a kernel: its loops, what it
// sums into and what each factor comes from. Start at sums_of.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cursor/cursor.h"
#include "search/device/instruction_set.h"

namespace exotune {

struct SumLoop {
  Sym iter;
  int64_t extent = 0;
  bool reduction = false;
};

/// One factor: an element of a buffer, read where it is used or into a scalar first, or a scalar
/// that is computed in the nest (a guarded read).
struct SumFactor {
  Sym buffer;                // what is read; of a computed scalar, the scalar
  std::vector<ExprPtr> idx;  // empty for a computed one
  std::set<Sym> loops;       // that it depends on
  bool through_scalar = false;
  bool computed = false;
  ScalarType element = ScalarType::kI32;  // as it lies in memory
  ScalarType value = ScalarType::kI32;    // as it is multiplied
  /// Has it to be made into a buffer for this product?
  bool made(const ProductInstruction& product) const {
    return computed || (through_scalar && !product.converts);
  }
};

struct KernelSum {
  Cursor sum;                  // the statement `x += first * second`
  std::vector<SumLoop> loops;  // around it, outermost first
  SumFactor first, second;
  Sym target;
  std::vector<ExprPtr> target_idx;  // empty: a scalar of the nest's own
  std::set<Sym> target_loops;
  /// Of a target with subscripts that the program allocates: the outermost loops, around that.
  size_t outside = 0;
  /// The target is to lie in the device itself: instructions begin the sums and take them.
  bool in_device = false;
};

/// Every sum of products in `p`, whose sizes are fixed, all loops around which run from 0 over
/// literal extents.
std::vector<KernelSum> sums_of(const ProcPtr& p);

/// Which kernel loop each loop of a product is, and which factor of the kernel is its first.
struct SumMapping {
  bool swapped = false;        // the product's first factor is the kernel's second
  std::vector<size_t> loops;   // indices into KernelSum::loops, by loop of the product
  std::vector<int64_t> tiles;  // iterations of each in one instruction
};

/// All ways in which the product could do a tile of the sum: each loop appears in the same operands
/// on both sides, memory is walked along the same dimension, and the extents can be divided:
/// evenly, or into tiles as large as the product takes them, of which the last may be shorter.
std::vector<SumMapping> mappings_of(const KernelSum& sum, const ProductInstruction& product);

}  // namespace exotune
