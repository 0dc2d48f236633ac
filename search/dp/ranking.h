#pragma once
// Ranking: the cheapest ways to do a Spec while it is worked out. Start at Ranking::keep.
#include <vector>

#include "search/dp/memo.h"

namespace exotune {

/// The best so far, each with its action's place in the list of actions: of two that cost the same
/// the earlier one counts, so that the order of threads changes nothing.
struct Ranking {
  MemoValue value;
  std::vector<int64_t> order;
  int64_t next = kNoCost;  // what was left out because of the bound costs at least this much
  bool before(const PlanCost& cost, int64_t order, size_t than) const;
  /// Into the list of at most `k`, sorted by cost; one of each identity.
  void keep(const Alternative& a, int64_t order, int k);
};

}  // namespace exotune
