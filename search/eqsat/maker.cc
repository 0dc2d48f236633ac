// Compiling right sides and making their terms. All that a step reads has its place in one array,
// so a node is three loads, whatever its children are in the pattern.
#include <algorithm>

#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

Maker::Maker(const Pattern& pattern) {
  size_t operators = 0;
  for (const Pattern::Node& node : pattern.nodes) {
    variables_ = std::max(variables_, static_cast<size_t>(node.variable + 1));
    operators += node.kind != Pattern::Kind::kVariable;
  }
  const size_t none = variables_ + operators;
  values_.assign(none + 1, kNoId);
  std::vector<size_t> places;  // by node of the pattern
  for (const Pattern::Node& node : pattern.nodes) {
    if (node.kind == Pattern::Kind::kVariable) {
      places.push_back(static_cast<size_t>(node.variable));
      continue;
    }
    Step step{.op = node.op};
    if (node.kind == Pattern::Kind::kFamily) step.op_place = node.variable;
    step.places.fill(static_cast<uint32_t>(none));
    for (size_t k = 0; k < node.arity; ++k)
      step.places[k] = static_cast<uint32_t>(places[static_cast<size_t>(node.places[k])]);
    places.push_back(variables_ + steps_.size());
    steps_.push_back(step);
  }
  if (!places.empty()) root_ = places.back();
}

void Maker::bind(Bindings bindings) { std::copy_n(bindings.begin(), variables_, values_.begin()); }

inline ENode Maker::node_of(const Step& step) const {
  const Id* const values = values_.data();
  return {step.op_place < 0 ? step.op : values[step.op_place],
          {values[step.places[0]], values[step.places[1]], values[step.places[2]]}};
}

// Adding finds the leaders of children; proofs speak of the very terms that are added, so there the
// leaders of variables stand in them.
Id Maker::make(EGraph& graph, Bindings bindings) {
  bind(bindings);
  Id* made = values_.data() + variables_;
  for (const Step& step : steps_) {
    ENode node = node_of(step);
    if (graph.proofs())
      for (size_t k = 0; k < kMaxChildren; ++k)
        if (step.places[k] < variables_) node.children[k] = graph.find(node.children[k]);
    *made++ = graph.add(node);
  }
  return root_ < variables_ ? graph.find(values_[root_]) : values_[root_];
}

Id Maker::make_of_known(EGraph& graph, Bindings bindings) {
  bind(bindings);
  if (root_ < variables_) return graph.find(values_[root_]);
  Id* made = values_.data() + variables_;
  for (const Step* step = steps_.data(); step != &steps_.back(); ++step)
    if ((*made++ = graph.lookup(node_of(*step))) == kNoId) return kNoId;
  return graph.proofs() ? make(graph, bindings) : graph.add(node_of(steps_.back()));
}

}  // namespace exotune::eqsat
