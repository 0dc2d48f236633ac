#include "search/eqsat/term.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

int Term::share(Op op, std::vector<int> children) {
  const Node node{op, std::move(children)};
  const auto it = std::find(nodes.begin(), nodes.end(), node);
  if (it != nodes.end()) return static_cast<int>(it - nodes.begin());
  nodes.push_back(node);
  return root();
}

std::string Term::str(const OpTable& ops) const {
  std::vector<std::string> texts;
  for (const Node& node : nodes) {
    std::string text = ops.str(node.op);
    if (!node.children.empty()) {
      text = '(' + text;
      for (const int child : node.children) text += ' ' + texts[static_cast<size_t>(child)];
      text += ')';
    }
    texts.push_back(std::move(text));
  }
  return texts.empty() ? "" : texts.back();
}

Term Term::parse(std::string_view text, OpTable& ops) {
  Variables variables;
  const Pattern pattern = Pattern::parse(text, ops, variables, "term");
  if (variables.size() > 0)
    throw InputError({nullptr, 1, 1}, "a term has no variables, but here is " + variables.name(0));
  Term term;
  std::vector<int> indices;
  for (const Pattern::Node& node : pattern.nodes) {
    std::vector<int> children;
    for (const int child : node.children()) children.push_back(indices[static_cast<size_t>(child)]);
    indices.push_back(term.share(node.op, std::move(children)));
  }
  // Sharing may have found the root among earlier nodes only if the term is that node itself, and
  // then nothing stands behind it.
  return term;
}

Id add(EGraph& graph, const Term& term) {
  EXO_CHECK(!term.nodes.empty());
  std::vector<Id> ids;
  for (const Term::Node& node : term.nodes) {
    std::vector<Id> children;
    for (const int child : node.children) children.push_back(ids[static_cast<size_t>(child)]);
    ids.push_back(graph.add(node.op, children));
  }
  return ids.back();
}

}  // namespace exotune::eqsat
