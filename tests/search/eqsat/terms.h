#pragma once
// Terms as text, for the tests of the e-graph: "(+ 1 (* x 2))". Start at add_term.
#include <string>
#include <string_view>

#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

/// Adds the term (a pattern without variables); its id.
inline Id add_term(EGraph& graph, OpTable& ops, std::string_view text) {
  Variables none;
  return Pattern::parse(text, ops, none, "term").instantiate(graph, {});
}

/// The term that an exact id of a graph with proofs stands for.
inline std::string term_text(const EGraph& graph, Id id) {
  const ENode& node = graph.original(id);
  if (node.arity() == 0) return graph.ops().str(node.op);
  std::string text = "(" + graph.ops().str(node.op);
  for (int i = 0; i < node.arity(); ++i) text += " " + term_text(graph, node.children[i]);
  return text + ")";
}

}  // namespace exotune::eqsat
