#include "search/dp/ranking.h"

namespace exotune {

bool Ranking::before(const PlanCost& cost, int64_t place, size_t than) const {
  const PlanCost& other = value.best[than].cost;
  return cost < other || (cost == other && place < order[than]);
}

void Ranking::keep(const Alternative& a, int64_t place, int k) {
  std::vector<Alternative>& best = value.best;
  for (size_t i = 0; i < best.size(); ++i)
    if (best[i].action.kind == a.action.kind && best[i].identity == a.identity) {
      if (!before(a.cost, place, i)) return;
      best.erase(best.begin() + static_cast<long>(i));
      order.erase(order.begin() + static_cast<long>(i));
      break;
    }
  size_t at = 0;
  while (at < best.size() && !before(a.cost, place, at)) ++at;
  best.insert(best.begin() + static_cast<long>(at), a);
  order.insert(order.begin() + static_cast<long>(at), place);
  if (static_cast<int>(best.size()) > k) {
    best.pop_back();
    order.pop_back();
  }
}

}  // namespace exotune
