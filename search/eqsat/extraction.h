#pragma once
// Terms out of an e-graph: the k cheapest of a class, and the cheapest when what is shared is paid
// once. Start at extract().
#include <array>
#include <functional>
#include <vector>

#include "search/eqsat/term.h"

namespace exotune::eqsat {

/// What a node costs, several figures at once ("bytes from memory", "instructions", ..); the caller
/// says what the places mean and how they weigh.
using CostVector = std::array<double, 4>;

struct CostModel {
  /// The node's own share, its children's left out; no figure below 0. The graph gives the classes'
  /// ids, from which an analysis knows their types.
  std::function<CostVector(const EGraph&, Id id, const ENode&)> of;
  CostVector weights = {1, 0, 0, 0};

  double scalar(const CostVector& c) const;
};

struct Extracted {
  Term term;
  CostVector cost = {};  // of the tree: shared subterms count each time
  double scalar = 0;     // weighted, plus a little for each node, so that no term contains itself
};

/// The k cheapest terms of the class, cheapest first; fewer when it has fewer. All differ.
/// Exact for the tree cost. Cost: k^arity for each node, times a logarithm.
/// The graph is clean.
std::vector<Extracted> extract(const EGraph& graph, Id root, const CostModel& model, size_t k = 1);

/// The cheapest of the extracted terms and their neighbours when each shared subterm is paid once:
/// starts at each of the k cheapest and changes one class's node at a time as long as that pays.
/// Not exact (the problem is NP-hard); never worse than the best of the k.
Extracted extract_shared(const EGraph& graph, Id root, const CostModel& model, size_t k = 8);

/// What the term costs when shared subterms are paid once.
double shared_cost(const EGraph& graph, const CostModel& model, const Term& term);

}  // namespace exotune::eqsat
