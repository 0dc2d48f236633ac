#include "search/eqsat/extraction.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
// The cheapest terms of a class. As trees, exactly, k of them, by best-first search over
// derivations; with sharing, where each class is paid once, by descent from the cheapest tree: that
// problem is NP-hard, so the answer is good and not always the best.
namespace {

// For each node: makes costs strictly positive, so that a term is dearer than its subterms.
constexpr double kPerNode = 1e-9;

using Ranks = std::array<uint32_t, kMaxChildren>;

// A way to make a class: one of its nodes over the rank-th cheapest ways of its children.
struct Derivation {
  double scalar = 0;
  CostVector cost = {};
  Id id = kNoId;
  ENode node;
  Ranks ranks = {};
};

// Best-first over derivations, as in Knuth's generalisation of Dijkstra, but each class is settled
// k times: what leaves the queue is the next cheapest of its class, and meets its siblings then.
class BestFirst {
 public:
  BestFirst(const EGraph& graph, const CostModel& model, size_t k)
      : graph_(graph), model_(model), k_(k), settled_(graph.id_count()), uses_(graph.id_count()) {
    for (const Id id : graph.classes())
      for (const ENode& node : graph.nodes(id)) index(id, node);
  }

  // Until `root` is settled k times; kNoId: until every class is.
  void run(Id root) {
    while (!queue_.empty() && (root == kNoId || settled_[root].size() < k_)) {
      Derivation next = queue_.top();
      queue_.pop();
      std::vector<Derivation>& settled = settled_[next.id];
      if (settled.size() >= k_) continue;
      const Id id = next.id;
      settled.push_back(std::move(next));
      const uint32_t rank = static_cast<uint32_t>(settled.size()) - 1;
      for (const Use& use : uses_[id]) {
        Ranks ranks = {};
        combine(use, 0, false, rank, id, ranks);
      }
    }
  }

  const std::vector<Derivation>& of(Id id) const { return settled_[id]; }

  int build(const Derivation& d, Term& term) const {
    std::vector<int> children;
    for (int i = 0; i < d.node.arity(); ++i)
      children.push_back(build(settled_[graph_.find(d.node.children[i])][d.ranks[i]], term));
    return term.share(d.node.op, std::move(children));
  }

 private:
  struct Use {
    Id id;  // of the class that uses it
    ENode node;
    CostVector own;
  };
  struct Dearer {
    bool operator()(const Derivation& a, const Derivation& b) const {
      return std::tie(a.scalar, a.id, a.node, a.ranks) > std::tie(b.scalar, b.id, b.node, b.ranks);
    }
  };

  void index(Id id, const ENode& node) {
    const Use use{id, node, model_.of(graph_, id, node)};
    for (const double c : use.own) EXO_CHECK(c >= 0);
    if (node.arity() == 0) {
      push(use, {});
      return;
    }
    std::array<Id, kMaxChildren> seen{};
    int distinct = 0;
    for (int i = 0; i < node.arity(); ++i) {
      const Id child = graph_.find(node.children[i]);
      if (std::find(seen.begin(), seen.begin() + distinct, child) != seen.begin() + distinct)
        continue;
      seen[distinct++] = child;
      uses_[child].push_back(use);
    }
  }

  // The combinations in which class `fresh`, settled last, takes part with its new rank.
  void combine(const Use& use, int i, bool has_new, uint32_t rank, Id fresh, Ranks& ranks) {
    if (i == use.node.arity()) {
      if (has_new) push(use, ranks);
      return;
    }
    const Id child = graph_.find(use.node.children[i]);
    const size_t known = settled_[child].size();
    for (uint32_t r = 0; r < known; ++r) {
      ranks[static_cast<size_t>(i)] = r;
      combine(use, i + 1, has_new || (child == fresh && r == rank), rank, fresh, ranks);
    }
  }

  void push(const Use& use, const Ranks& ranks) {
    if (settled_[use.id].size() >= k_) return;
    Derivation d{0, use.own, use.id, use.node, ranks};
    d.scalar = model_.scalar(use.own) + kPerNode;
    for (int i = 0; i < use.node.arity(); ++i) {
      const Derivation& child = settled_[graph_.find(use.node.children[i])][ranks[i]];
      d.scalar += child.scalar;
      for (size_t c = 0; c < d.cost.size(); ++c) d.cost[c] += child.cost[c];
    }
    queue_.push(std::move(d));
  }

  const EGraph& graph_;
  const CostModel& model_;
  const size_t k_;
  std::vector<std::vector<Derivation>> settled_;  // by class
  std::vector<std::vector<Use>> uses_;            // by child class
  std::priority_queue<Derivation, std::vector<Derivation>, Dearer> queue_;
};

// One node chosen for each class: a term whose shared subterms are paid once. Costs of classes are
// remembered, since a neighbour differs in few of them.
class Choice {
 public:
  Choice(const EGraph& graph, const CostModel& model) : graph_(graph), model_(model) {}

  void choose(Id id, const ENode& node) { chosen_[graph_.find(id)] = node; }
  const ENode* chosen(Id id) const {
    const auto it = chosen_.find(graph_.find(id));
    return it == chosen_.end() ? nullptr : &it->second;
  }
  std::vector<Id> used(Id root) const {
    std::vector<Id> order;
    std::map<Id, bool> done;
    return visit(graph_.find(root), done, order) ? order : std::vector<Id>();
  }
  // Of what is reached from the root; nothing for a choice that goes round in a circle or is open.
  std::optional<double> cost(Id root) const {
    const std::vector<Id> order = used(root);
    if (order.empty()) return std::nullopt;
    double sum = 0;
    for (const Id id : order) sum += model_.scalar(model_.of(graph_, id, *chosen(id))) + kPerNode;
    return sum;
  }
  Extracted take(Id root) const {
    Extracted out;
    std::map<Id, int> indices;
    for (const Id id : used(root)) {
      const ENode& node = *chosen(id);
      std::vector<int> children;
      for (int i = 0; i < node.arity(); ++i)
        children.push_back(indices.at(graph_.find(node.children[i])));
      indices[id] = out.term.share(node.op, std::move(children));
      const CostVector own = model_.of(graph_, id, node);
      for (size_t c = 0; c < own.size(); ++c) out.cost[c] += own[c];
      out.scalar += model_.scalar(own) + kPerNode;
    }
    return out;
  }

 private:
  // Children first. False: a circle, or a class without a choice.
  bool visit(Id id, std::map<Id, bool>& done, std::vector<Id>& order) const {
    const auto [it, is_new] = done.try_emplace(id, false);
    if (!is_new) return it->second;
    const ENode* node = chosen(id);
    if (!node) return false;
    for (int i = 0; i < node->arity(); ++i)
      if (!visit(graph_.find(node->children[i]), done, order)) return false;
    done[id] = true;
    order.push_back(id);
    return true;
  }

  const EGraph& graph_;
  const CostModel& model_;
  std::map<Id, ENode> chosen_;
};

// The classes of a term's nodes, by index.
std::vector<Id> classes_of(const EGraph& graph, const Term& term) {
  std::vector<Id> ids;
  for (const Term::Node& node : term.nodes) {
    ENode e{node.op, {kNoId, kNoId, kNoId}};
    for (size_t i = 0; i < node.children.size(); ++i)
      e.children[i] = ids[static_cast<size_t>(node.children[i])];
    ids.push_back(graph.lookup(e));
    EXO_CHECK(ids.back() != kNoId);
  }
  return ids;
}

// Changes one class's node at a time as long as the whole gets cheaper.
// Ends at a local optimum: no change of one class's node makes the whole cheaper.
void descend(const EGraph& graph, Id root, Choice& choice) {
  double best = *choice.cost(root);
  for (bool better = true; better;) {
    better = false;
    for (const Id id : choice.used(root)) {
      const ENode before = *choice.chosen(id);
      for (const ENode& node : graph.nodes(id)) {
        if (node == before) continue;
        const ENode now = *choice.chosen(id);
        choice.choose(id, node);
        const auto cost = choice.cost(root);
        if (cost && *cost < best) {
          best = *cost;
          better = true;
        } else {
          choice.choose(id, now);
        }
      }
    }
  }
}

}  // namespace

double CostModel::scalar(const CostVector& c) const {
  double sum = 0;
  for (size_t i = 0; i < c.size(); ++i) sum += weights[i] * c[i];
  return sum;
}

std::vector<Extracted> extract(const EGraph& graph, Id root, const CostModel& model, size_t k) {
  EXO_CHECK(graph.clean());
  BestFirst search(graph, model, k);
  root = graph.find(root);
  search.run(root);
  std::vector<Extracted> out;
  for (const Derivation& d : search.of(root)) {
    Extracted e{{}, d.cost, d.scalar};
    search.build(d, e.term);
    out.push_back(std::move(e));
  }
  return out;
}

Extracted extract_shared(const EGraph& graph, Id root, const CostModel& model, size_t k) {
  std::optional<Extracted> best;
  // What a neighbour may need: the cheapest way of every class.
  BestFirst every(graph, model, 1);
  every.run(kNoId);
  for (const Extracted& start : extract(graph, root, model, k)) {
    Choice choice(graph, model);
    for (const Id id : graph.classes())
      if (!every.of(id).empty()) choice.choose(id, every.of(id).front().node);
    const std::vector<Id> ids = classes_of(graph, start.term);
    Choice with_start = choice;
    for (size_t i = 0; i < ids.size(); ++i) {
      const Term::Node& node = start.term.nodes[i];
      ENode e{node.op, {kNoId, kNoId, kNoId}};
      for (size_t c = 0; c < node.children.size(); ++c)
        e.children[c] = ids[static_cast<size_t>(node.children[c])];
      with_start.choose(ids[i], e);
    }
    // A tree may make one class in two ways; one choice for each class may then be circular.
    Choice& begin = with_start.cost(root) ? with_start : choice;
    descend(graph, root, begin);
    Extracted found = begin.take(root);
    if (!best || found.scalar < best->scalar) best = std::move(found);
  }
  EXO_CHECK(best);
  return *best;
}

double shared_cost(const EGraph& graph, const CostModel& model, const Term& term) {
  const std::vector<Id> ids = classes_of(graph, term);
  double sum = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    ENode e{term.nodes[i].op, {kNoId, kNoId, kNoId}};
    for (size_t c = 0; c < term.nodes[i].children.size(); ++c)
      e.children[c] = ids[static_cast<size_t>(term.nodes[i].children[c])];
    sum += model.scalar(model.of(graph, ids[i], e)) + kPerNode;
  }
  return sum;
}

}  // namespace exotune::eqsat
