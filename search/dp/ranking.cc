#include "search/dp/ranking.h"

#include "core/base/hashing.h"

namespace exotune {

namespace {

uint64_t whole(const Alternative& a) {
  return hash_combine(hash_combine(static_cast<uint64_t>(a.action.kind), a.identity.run),
                      a.identity.rest);
}

uint64_t with_extents(uint64_t hash, const Expansion& e) {
  for (const uint32_t extent : e.part[e.main].spec.extents) hash = hash_combine(hash, extent);
  return hash;
}

PlanIdentity identity_of_move(const Expansion& e, const Alternative& next, bool into_registers) {
  const DpAction& a = e.action;
  const bool goes_on = next.action.kind == ActionKind::kMove;
  // No copy: all that is left of it is that tiles before and after differ.
  if (e.parts == 1)
    return {goes_on ? next.identity.run : 0, goes_on ? next.identity.rest : whole(next)};
  // The script leaves the rest to a micro-kernel of this size.
  if (into_registers) return {0, with_extents(a.index, e)};
  const uint64_t move = hash_mix(a.index + (uint64_t{a.to.level} << 8) +
                                 (uint64_t{a.to.layout} << 16) + (uint64_t{a.to.vector} << 32));
  // The order of moves that follow each other does not matter: their sum does.
  if (goes_on) return {move + next.identity.run, next.identity.rest};
  return {move, whole(next)};
}

}  // namespace

PlanIdentity identity_of(const Expansion& e, const Alternative* next, bool into_registers) {
  const DpAction& a = e.action;
  switch (a.kind) {
    case ActionKind::kSelect:
      return {0, a.index};
    case ActionKind::kInitialise:
      return {0, whole(*next)};
    case ActionKind::kTile:
      // Tiles of tiles come to the last one.
      if (next->action.kind == ActionKind::kTile) return next->identity;
      return {0, with_extents(whole(*next), e)};
    case ActionKind::kParallelTile:
      return {0, with_extents(hash_mix(whole(*next) + a.index), e)};
    case ActionKind::kMove:
      return identity_of_move(e, *next, into_registers);
  }
  return {};
}

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
