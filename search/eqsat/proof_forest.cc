#include "search/eqsat/proof_forest.h"

#include <algorithm>
#include <utility>

#include "core/base/diagnostic.h"
#include "search/eqsat/egraph.h"

namespace exotune::eqsat {

void ProofForest::add(const ENode& original, Id id) {
  EXO_CHECK(id == edges_.size());
  edges_.emplace_back();
  terms_.push_back(original);
  exact_.exchange(original, id);
}

// The tree of `a` is turned so that `a` is its root, then hung below `b`.
void ProofForest::connect(Id a, Id b, int reason) {
  Edge carried{b, reason, true};
  for (Id id = a; id != kNoId;) {
    const Edge old = std::exchange(edges_[id], carried);
    carried = {id, old.reason, !old.forward};
    id = old.next;
  }
}

std::vector<ProofForest::Hop> ProofForest::path(Id from, Id to) const {
  const auto to_root = [this](Id id) {
    std::vector<Id> ids;
    for (; id != kNoId; id = edges_[id].next) ids.push_back(id);
    return ids;
  };
  std::vector<Id> left = to_root(from), right = to_root(to);
  if (left.back() != right.back()) return {};
  while (!left.empty() && !right.empty() && left.back() == right.back()) {
    left.pop_back();
    right.pop_back();
  }
  std::vector<Hop> hops;
  for (const Id id : left) {
    const Edge& edge = edges_[id];
    hops.push_back({id, edge.next, edge.reason, edge.forward});
  }
  for (auto id = right.rbegin(); id != right.rend(); ++id) {
    const Edge& edge = edges_[*id];
    hops.push_back({edge.next, *id, edge.reason, !edge.forward});
  }
  return hops;
}

bool ProofForest::append(const EGraph& graph, Id from, Id to, std::vector<int>& position,
                         size_t most, std::vector<ProofStep>& steps) const {
  for (const Hop& hop : path(from, to)) {
    if (hop.reason != kCongruence) {
      if (steps.size() >= most) return false;
      steps.push_back({hop.reason, hop.forward, position, hop.from, hop.to});
      continue;
    }
    const ENode& a = graph.original(hop.from);
    const ENode& b = graph.original(hop.to);
    for (int i = 0; i < a.arity(); ++i) {
      if (a.children[i] == b.children[i]) continue;
      position.push_back(i);
      if (!append(graph, a.children[i], b.children[i], position, most, steps)) return false;
      position.pop_back();
    }
  }
  return true;
}

std::optional<std::vector<ProofStep>> ProofForest::explain(const EGraph& graph, Id from, Id to,
                                                           size_t most) const {
  if (graph.find(from) != graph.find(to)) return std::nullopt;
  std::vector<ProofStep> steps;
  std::vector<int> position;
  if (!append(graph, from, to, position, most, steps)) return std::nullopt;
  return steps;
}

}  // namespace exotune::eqsat
