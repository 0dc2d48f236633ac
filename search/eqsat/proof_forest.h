#pragma once
// Why two terms of an e-graph are equal: the unions as a forest, and the sequence of rule
// applications that leads from one term to the other. Start at ProofForest::explain.
//
// Each id of a graph that keeps proofs stands for exactly one term. An edge joins two terms that a
// rule, the caller or congruence made equal; a tree holds one class. The path between two ids is
// unique and never changes once it exists, so congruence edges unfold into paths that are older and
// the recursion ends (Nieuwenhuis and Oliveras, "Proof-producing congruence closure", RTA 2005).
#include <cstdint>
#include <optional>
#include <vector>

#include "search/eqsat/node_table.h"

namespace exotune::eqsat {

class EGraph;

/// One rewrite of a subterm: `before` becomes `after`, both exact ids.
struct ProofStep {
  int rule = 0;         // as given to EGraph::unite; EGraph::kGiven for a union of the caller's
  bool forward = true;  // left to right
  std::vector<int> position;  // child indices from the root to the subterm
  Id before = kNoId, after = kNoId;
};

class ProofForest {
 public:
  // In the place of a rule: the children were equal.
  static constexpr int kCongruence = -2;

  /// The id of exactly this term, or kNoId.
  Id find(const ENode& original) const { return exact_.find(original); }
  /// What the id was made for: an operator and the exact terms below it.
  const ENode& term(Id id) const { return terms_[id]; }
  /// A new id, larger by one than the last.
  void add(const ENode& original, Id id);
  /// a and b, of different trees, became equal; left and right side of the rule in this order.
  void connect(Id a, Id b, int reason);

  /// The rewrites from the term of `from` to the term of `to`, in order; nothing when they are not
  /// equal or when it would take more than `most` steps. Cost: the length of the answer.
  std::optional<std::vector<ProofStep>> explain(const EGraph& graph, Id from, Id to,
                                                size_t most = 100'000) const;
  size_t bytes() const {
    return exact_.bytes() + terms_.capacity() * sizeof(ENode) + edges_.capacity() * sizeof(Edge);
  }

 private:
  struct Edge {
    Id next = kNoId;  // towards the root; kNoId at a root
    int reason = 0;
    bool forward = true;  // from this id to `next`
  };
  struct Hop {
    Id from, to;
    int reason;
    bool forward;
  };
  std::vector<Hop> path(Id from, Id to) const;
  bool append(const EGraph& graph, Id from, Id to, std::vector<int>& position, size_t most,
              std::vector<ProofStep>& steps) const;

  FlatVector<ENode> terms_;  // by id
  NodeTable exact_;          // and back
  std::vector<Edge> edges_;
};

}  // namespace exotune::eqsat
