#pragma once
// An e-graph as a picture: Graphviz text. Start at graph_text.
#include <string>

#include "search/eqsat/access.h"

namespace exotune::eqsat {

/// One cluster for each class with its type, one box for each node, an arrow to each child's class.
/// `graph` is rebuilt. `dot -Tsvg` draws it.
std::string graph_text(const EGraph& graph, const AccessTypes& types);

}  // namespace exotune::eqsat
