#include "search/eqsat/egraph.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/eqsat/proof_forest.h"

namespace exotune::eqsat {
// The e-graph: union-find over ids, a table of canonical nodes, parents of classes for congruence.
// As in egg, congruence is restored in close() only, after many unions: each class is then closed
// once, not once a union.

EGraph::EGraph(const OpTable& ops, Analysis* analysis, bool proofs)
    : ops_(ops), analysis_(analysis), proofs_(proofs ? std::make_unique<ProofForest>() : nullptr) {}

EGraph::~EGraph() = default;

Id EGraph::add(Op op, std::span<const Id> children) {
  EXO_CHECK(children.size() <= kMaxChildren);
  ENode node{op, {kNoId, kNoId, kNoId}};
  std::copy(children.begin(), children.end(), node.children.begin());
  return add(node);
}

const ENode& EGraph::original(Id id) const { return proofs_ ? proofs_->term(id) : nodes_[id]; }

// The node is in the memo already.
Id EGraph::add_class(const ENode& canonical, const ENode& original) {
  const Id id = static_cast<Id>(nodes_.size());
  EXO_CHECK(id != kNoId);
  leader_.push_back(id);
  nodes_.push_back(canonical);
  parents_.push_back({});
  is_pending_.push_back(0);
  if (proofs_) proofs_->add(original, id);
  ++class_count_;
  clean_ = false;
  for (const Id child : canonical.children)
    if (child != kNoId) note_parent(child, id);
  if (analysis_) {
    analysis_->make(*this, canonical, id);
    analysis_->modify(*this, id);
  }
  return id;
}

// A term that is known in another spelling gets an id of its own in the same class, so that proofs
// can speak of exactly this term. It joins neither the members nor the parents: those of the known
// spelling stand for it.
Id EGraph::add_spelling(const ENode& original, Id known) {
  if (const Id same = proofs_->find(original); same != kNoId) return same;
  const Id id = static_cast<Id>(nodes_.size());
  leader_.push_back(find(known));
  nodes_.push_back({});
  parents_.push_back({});
  is_pending_.push_back(0);
  proofs_->add(original, id);
  proofs_->connect(known, id, ProofForest::kCongruence);
  return id;
}

void EGraph::note_parent(Id child, Id parent) {
  ParentList& list = parents_[child];
  const uint32_t link = static_cast<uint32_t>(parent_links_.size());
  parent_links_.push_back({parent, link});
  if (list.last != kEnd) std::swap(parent_links_[link].next, parent_links_[list.last].next);
  list.last = link;
  ++list.count;
}

template <typename Visit>
void EGraph::for_each_parent(Id id, const Visit& visit) const {
  const uint32_t last = parents_[id].last;
  if (last == kEnd) return;
  uint32_t link = last;
  do {
    link = parent_links_[link].next;
    visit(parent_links_[link].parent);
  } while (link != last);
}

// Parents of a class that was merged may have become equal to others: they wait for the next
// rebuild.
void EGraph::queue_parents(Id id) {
  for_each_parent(id, [this](Id parent) {
    if (std::exchange(is_pending_[parent], 1) == 0) pending_.push_back(parent);
  });
}

void EGraph::queue_parents_to_learn(Id id) {
  for_each_parent(id, [this](Id parent) { analysis_pending_.push_back(parent); });
}

// The class with more parents keeps its id, so that fewer lists are moved; the reason is kept for
// proofs.
bool EGraph::merge(Id a, Id b, int reason) {
  Id into = find(a), from = find(b);
  clean_ = false;
  if (parents_[into].count < parents_[from].count) std::swap(into, from);
  if (proofs_) proofs_->connect(a, b, reason == kCongruence ? ProofForest::kCongruence : reason);

  leader_[from] = into;
  --class_count_;
  queue_parents(from);
  if (analysis_) {
    const auto [into_changed, from_changed] = analysis_->merge(into, from);
    if (into_changed) queue_parents_to_learn(into);
    if (from_changed) queue_parents_to_learn(from);
  }
  ParentList& kept = parents_[into];
  const ParentList gone = std::exchange(parents_[from], {});
  if (gone.last != kEnd) {  // and so the other has parents, which are more
    std::swap(parent_links_[kept.last].next, parent_links_[gone.last].next);
    kept.last = gone.last;
    kept.count += gone.count;
  }
  if (analysis_) analysis_->modify(*this, into);
  return true;
}

// A node whose children changed leaders may now be equal to another. One that is spelled as before
// is in the memo so.
void EGraph::close_one(Id id, size_t& unions) {
  const ENode node = canonical(nodes_[id]);
  if (node == nodes_[id]) return;
  nodes_[id] = node;
  const Id before = memo_.exchange(node, id);
  if (before != kNoId) unions += unite(before, id, kCongruence);
}

// Upward closure.
// A worklist: closing one node may unite two classes, whose parents then wait in turn; ends because
// every union makes the classes fewer.
size_t EGraph::close() {
  size_t unions = 0;
  while (!pending_.empty() || !analysis_pending_.empty()) {
    while (!pending_.empty()) {
      const Id id = pending_.back();
      pending_.pop_back();
      is_pending_[id] = 0;
      close_one(id, unions);
    }
    while (!analysis_pending_.empty()) {
      const Id id = analysis_pending_.back();
      analysis_pending_.pop_back();
      const Id leader = find(id);
      if (!analysis_->remake(*this, canonical(nodes_[id]), leader)) continue;
      queue_parents_to_learn(leader);
      analysis_->modify(*this, leader);
    }
  }
  return unions;
}

// Closes the graph, then makes the view that searches read: sorted by operator, without doubles.
size_t EGraph::rebuild() {
  const size_t unions = close();
  if (!clean_ || classes().empty()) {
    view_.renew(*this, analysis_, viewed_);
    viewed_ = static_cast<Id>(id_count());
  }
  clean_ = true;
  return unions;
}

size_t EGraph::bytes_soon() const {
  constexpr size_t kSoon = 1024;  // elements
  size_t sum = bytes() + memo_.growth_within(kSoon) +
               view_.growth(id_count() - viewed_ + kSoon, id_count() - viewed_ + kSoon);
  const auto grows = [&](const auto& v) {
    if (v.size() + kSoon > v.capacity()) sum += 2 * v.capacity() * sizeof(v[0]);
  };
  grows(nodes_);
  grows(leader_);
  grows(parents_);
  grows(parent_links_);
  return sum;
}

size_t EGraph::bytes() const {
  const auto held = [](const auto&... v) { return (... + (v.capacity() * sizeof(v[0]))); };
  return memo_.bytes() +
         held(nodes_, leader_, parents_, parent_links_, pending_, is_pending_, analysis_pending_) +
         view_.bytes() + (proofs_ ? proofs_->bytes() : 0);
}

}  // namespace exotune::eqsat
