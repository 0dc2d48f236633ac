// Compiling right sides and making their terms. Only operators are left of a pattern: where a child
// is a variable, its binding is read in place.
#include "core/base/diagnostic.h"
#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

Maker::Maker(const Pattern& pattern) {
  std::vector<int> places;  // by node of the pattern
  for (const Pattern::Node& node : pattern.nodes) {
    if (node.kind == Pattern::Kind::kVariable) {
      places.push_back(~node.variable);
      continue;
    }
    Step step{.op = node.op, .arity = node.arity};
    if (node.kind == Pattern::Kind::kFamily) step.op_variable = node.variable;
    for (size_t k = 0; k < node.arity; ++k)
      step.places[k] = places[static_cast<size_t>(node.places[k])];
    places.push_back(static_cast<int>(steps_.size()));
    steps_.push_back(step);
  }
  if (!places.empty()) root_ = places.back();
  made_.resize(steps_.size());
}

Id Maker::at(int place, Bindings bindings) const {
  return place >= 0 ? made_[static_cast<size_t>(place)] : bindings[static_cast<size_t>(~place)];
}

ENode Maker::node_of(const Step& step, Bindings bindings) const {
  ENode node{step.op, {kNoId, kNoId, kNoId}};
  if (step.op_variable >= 0) node.op = bindings[static_cast<size_t>(step.op_variable)];
  for (size_t k = 0; k < step.arity; ++k) node.children[k] = at(step.places[k], bindings);
  return node;
}

// Adding finds the leaders of children; proofs speak of the very terms that are added, so there
// the leaders of variables stand in them.
Id Maker::make(EGraph& graph, Bindings bindings) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    ENode node = node_of(steps_[i], bindings);
    if (graph.proofs())
      for (size_t k = 0; k < steps_[i].arity; ++k)
        if (steps_[i].places[k] < 0) node.children[k] = graph.find(node.children[k]);
    made_[i] = graph.add(node);
  }
  return root_ < 0 ? graph.find(at(root_, bindings)) : at(root_, bindings);
}

Id Maker::make_of_known(EGraph& graph, Bindings bindings) {
  if (root_ < 0) return make(graph, bindings);
  for (size_t i = 0; i + 1 < steps_.size(); ++i)
    if ((made_[i] = graph.lookup(node_of(steps_[i], bindings))) == kNoId) return kNoId;
  return graph.proofs() ? make(graph, bindings) : graph.add(node_of(steps_.back(), bindings));
}

}  // namespace exotune::eqsat
