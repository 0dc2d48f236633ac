#pragma once
// Sums of products in programs that are cheaper in steps: chains of matrices, contractions of
// tensors, sums over what one factor has alone. Start at lift_sums; factor makes a tree of products
// of two the program's.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/path.h"
#include "core/ir/proc.h"
#include "search/eqsat/contraction_order.h"

namespace exotune::eqsat {

/// A perfect nest around one `x[..] += a[..] * b[..] * c[..] ..`, of different elements: three
/// factors or more, or two of which one is summed over something of its own.
struct SumOfFactors {
  Path nest, statement;              // the outermost loop, and what it holds
  std::vector<std::string> buffers;  // of the factors, by name
  std::vector<std::string> factors;  // what tells them apart: the buffer, or `a[i, j]`
  std::vector<std::string> loops;    // names of the iterators
  std::vector<ExprPtr> extents;      // of the loops
  std::vector<uint64_t> indices;     // of each factor: the loops that it mentions
  uint64_t output = 0;
  int last = -1;  // the loop that is the output's last subscript; -1: none

  /// Loops of the sum that no other factor mentions.
  uint64_t own(size_t factor) const;
};
std::vector<SumOfFactors> lift_sums(const Proc& p);

/// Its extents in numbers; nothing where `sizes` lacks one.
std::optional<Contraction> contraction_of(const SumOfFactors& sum,
                                          const std::map<std::string, int64_t>& sizes);

/// "B_C = sum of B * C" for each product but the last, and for sums of one factor.
std::string text_of(const SumOfFactors& sum, const ContractionTree& tree);

/// The program with each inner product of the tree summed ahead, by factor_sum. Throws
/// SchedulingError where one does not hold.
ProcPtr factor(const ProcPtr& p, const SumOfFactors& sum, const ContractionTree& tree);

}  // namespace exotune::eqsat
