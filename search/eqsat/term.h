#pragma once
// Terms: what is added to an e-graph and what is extracted from one. Start at Term.
#include <string>
#include <string_view>
#include <vector>

#include "search/eqsat/egraph.h"

namespace exotune::eqsat {

/// A term as a list of nodes, children before parents; shared subterms stand once. The root is
/// last.
struct Term {
  struct Node {
    Op op = kNoOp;
    std::vector<int> children;  // indices of earlier nodes
    auto operator<=>(const Node&) const = default;
  };
  std::vector<Node> nodes;

  int root() const { return static_cast<int>(nodes.size()) - 1; }
  bool operator==(const Term&) const = default;

  /// Appends a node unless an equal one is there; its index.
  int share(Op op, std::vector<int> children);
  /// "(dot (pair a b))", shared subterms written out each time.
  std::string str(const OpTable& ops) const;
  /// The text of str(). Throws InputError for anything else, variables included.
  static Term parse(std::string_view text, OpTable& ops);
};

/// Adds the term; the id of its root (EGraph::add).
Id add(EGraph& graph, const Term& term);

}  // namespace exotune::eqsat
