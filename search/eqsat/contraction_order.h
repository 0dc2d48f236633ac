#pragma once
// In which order several factors are multiplied and summed: the cheapest trees of products of two,
// found by equality saturation under commutativity and associativity. Start at contraction_orders.
//
// The graph of n factors has a class for each subset of them, 2^n - 1, and every tree is in it;
// what each product costs depends on the sizes alone.
#include <cstdint>
#include <string>
#include <vector>

#include "search/eqsat/saturation.h"

namespace exotune::eqsat {

/// Sums over indices 0..; a bit for each index.
struct Contraction {
  std::vector<uint64_t> factors;  // the indices of each, 2 to 12 of them
  uint64_t output = 0;            // indices of the result
  std::vector<double> extents;    // of each index
};

struct ContractionTree {
  struct Node {
    int factor = -1;            // of a leaf
    int left = -1, right = -1;  // of a product: earlier nodes
  };
  std::vector<Node> nodes;     // the root is last
  double multiplications = 0;  // of all its products; sums of a factor alone have none
};

/// Trees, and the graph that they were read from.
struct ContractionOrders {
  std::vector<ContractionTree> trees;  // the cheapest first
  size_t nodes = 0, classes = 0;
  StopReason stop = StopReason::kSaturated;
};

/// The `k` cheapest trees, each once whatever the order of the two sides. An index is summed over
/// in the product after which nobody has it, one of a single factor in that factor, before anything
/// is multiplied.
ContractionOrders contraction_orders(const Contraction& c, size_t k,
                                     const Limits& limits = {
                                         .iterations = 40, .nodes = 600'000, .seconds = 10});

}  // namespace exotune::eqsat
