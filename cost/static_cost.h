#pragma once
// Static affine cost of a scheduled proc: cycles, without running it. A sum over the tree in which
// a loop costs its trip count times its body (Morello section 3), extended by a latency floor, a
// term for spilled registers, and the lines each cache level must bring in. It only orders
// candidates; measurement decides. Start at static_cost.
#include <map>
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

struct CacheCost {
  int64_t bytes = 0;  // capacity
  int line_bytes = 64;
  double cycles_per_line = 0;  // to bring one line in from the next level out
};

/// Weights, filled from a target's text and the machine's probe.
struct CostWeights {
  double scalar_operation = 1.0;  // one data operation outside an instruction
  double loop_iteration = 1.0;    // counter and branch
  double branch = 1.0;
  double latency = 4.0;           // of an accumulating instruction: cycles until its result
  double spill = 2.0;             // one vector register too many, per use of the block
  double memory_overlap = 0.5;    // share of cache traffic that arithmetic does not hide
  std::vector<CacheCost> caches;  // nearest first; the last one's line cost is main memory's
};

struct StaticCost {
  double cycles = 0;          // what candidates are ordered by
  double arithmetic = 0;      // instructions, loops, latency floors, spills
  std::vector<double> lines;  // brought into each cache level
  double spilled = 0;         // cycles of `arithmetic` that are spills
};

/// `sizes` has a value for every size argument of `p` that is still symbolic. Cost: linear in the
/// proc times its loop depth; some hundred microseconds for a scheduled matrix product.
StaticCost static_cost(const Proc& p, const std::map<std::string, int64_t>& sizes,
                       const CostWeights& weights);

}  // namespace exotune
