#include "search/eqsat/graph_text.h"

namespace exotune::eqsat {

std::string graph_text(const EGraph& graph, const AccessTypes& types) {
  const AccessLanguage& language = types.language();
  const auto name_of = [&](const ENode& node) {
    if (language.kind(node.op) == AccessOp::kTensor) return language.declaration(node.op).name;
    return graph.ops().str(node.op);
  };
  std::string text = "digraph egraph {\n  compound=true\n  node [shape=box]\n";
  std::string arrows;
  for (const Id id : graph.classes()) {
    const std::string c = std::to_string(id);
    text += "  subgraph cluster_" + c + " {\n    style=dotted\n    label=\"" +
            language.str(types.of(graph, id)) + "\"\n";
    size_t k = 0;
    for (const ENode& node : graph.nodes(id)) {
      const std::string n = "n" + c + "_" + std::to_string(k++);
      text += "    " + n + " [label=\"" + name_of(node) + "\"]\n";
      for (int i = 0; i < node.arity(); ++i) {
        const std::string child = std::to_string(graph.find(node.children[i]));
        arrows += "  " + n + " -> n" + child + "_0 [lhead=cluster_" + child + "]\n";
      }
    }
    text += "  }\n";
  }
  return text + arrows + "}\n";
}

}  // namespace exotune::eqsat
