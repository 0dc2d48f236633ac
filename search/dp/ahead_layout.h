#pragma once
// The order for an operand that is packed ahead, chosen by the dynamic program: packing costs
// nothing then, so the operand may lie as serves the kernel best. Start at ahead_layouts.
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "hw/target.h"
#include "search/dp/dp.h"

namespace exotune {

/// As pack_ahead takes it (core/library/ahead.h).
struct AheadLayout {
  std::vector<int64_t> tiles;
  std::vector<int> order;
  int64_t depth = 1;        // iterations of the innermost sum that one instruction adds up
  std::string instruction;  // the leaf that it was made for
  double cycles = 0;        // of the best plan, by the model; without packing
};

/// The cheapest orders for the argument `buffer` of a nest of literal extents, best first: for each
/// instruction that computes the nest's statement, blocks of its operand's shape, several side by
/// side along the result, with the outer dimensions in every order; and the order as given. Each is
/// solved as a Spec of its own with one memo, for the machine that `figures` are of. Empty when the
/// nest is no Spec or no instruction fits; of those tried so far when the deadline is over first.
std::vector<AheadLayout> ahead_layouts(const Proc& p, const std::string& buffer,
                                       const Target& target, const TargetFigures& figures,
                                       int most = 6, const Deadline& deadline = {});

}  // namespace exotune
