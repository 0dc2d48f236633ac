#include "search/eqsat/egraph.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/eqsat/proof_forest.h"

namespace exotune::eqsat {

EGraph::EGraph(const OpTable& ops, Analysis* analysis, bool proofs)
    : ops_(ops), analysis_(analysis), proofs_(proofs ? std::make_unique<ProofForest>() : nullptr) {}

EGraph::~EGraph() = default;

Id EGraph::find(Id id) const {
  // Path halving: cheap, and as good as full compression in practice.
  while (leader_[id] != id) {
    leader_[id] = leader_[leader_[id]];
    id = leader_[id];
  }
  return id;
}

ENode EGraph::canonical(ENode node) const {
  for (Id& child : node.children)
    if (child != kNoId) child = find(child);
  return node;
}

Id EGraph::lookup(const ENode& node) const {
  const Id known = memo_.find(canonical(node));
  return known == kNoId ? kNoId : find(known);
}

Id EGraph::add(Op op, std::span<const Id> children) {
  EXO_CHECK(children.size() <= kMaxChildren);
  ENode original{op, {kNoId, kNoId, kNoId}};
  std::copy(children.begin(), children.end(), original.children.begin());
  const ENode node = canonical(original);
  const Id known = memo_.find(node);
  if (known == kNoId) return add_class(node, original);
  return proofs_ ? add_spelling(original, known) : known;
}

Id EGraph::add_class(const ENode& canonical, const ENode& original) {
  const Id id = static_cast<Id>(originals_.size());
  EXO_CHECK(id != kNoId);
  leader_.push_back(id);
  originals_.push_back(original);
  parents_.emplace_back();
  memo_.exchange(canonical, id);
  members_.push_back({id, canonical});
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
  const Id id = static_cast<Id>(originals_.size());
  leader_.push_back(find(known));
  originals_.push_back(original);
  parents_.emplace_back();
  proofs_->add(original, id);
  proofs_->connect(known, id, ProofForest::kCongruence);
  return id;
}

void EGraph::note_parent(Id child, Id parent) {
  ParentList& list = parents_[child];
  const uint32_t link = static_cast<uint32_t>(parent_links_.size());
  parent_links_.push_back({parent, kEnd});
  if (list.tail == kEnd)
    list.head = link;
  else
    parent_links_[list.tail].second = link;
  list.tail = link;
  ++list.count;
}

void EGraph::queue_parents(Id id, std::vector<Id>& queue) {
  for (uint32_t link = parents_[id].head; link != kEnd; link = parent_links_[link].second)
    queue.push_back(parent_links_[link].first);
}

bool EGraph::unite(Id a, Id b, int rule) { return merge(a, b, rule); }

bool EGraph::merge(Id a, Id b, int reason) {
  Id into = find(a), from = find(b);
  if (into == from) return false;
  clean_ = false;
  if (parents_[into].count < parents_[from].count) std::swap(into, from);
  if (proofs_) proofs_->connect(a, b, reason == kCongruence ? ProofForest::kCongruence : reason);

  leader_[from] = into;
  --class_count_;
  queue_parents(from, pending_);
  if (analysis_) {
    const auto [into_changed, from_changed] = analysis_->merge(into, from);
    if (into_changed) queue_parents(into, analysis_pending_);
    if (from_changed) queue_parents(from, analysis_pending_);
  }
  ParentList& kept = parents_[into];
  const ParentList gone = std::exchange(parents_[from], {});
  if (gone.head != kEnd) {
    if (kept.tail == kEnd)
      kept.head = gone.head;
    else
      parent_links_[kept.tail].second = gone.head;
    kept.tail = gone.tail;
    kept.count += gone.count;
  }
  if (analysis_) analysis_->modify(*this, into);
  return true;
}

// Upward closure: a node whose children changed leaders may now be equal to another.
size_t EGraph::close() {
  size_t unions = 0;
  while (!pending_.empty() || !analysis_pending_.empty()) {
    while (!pending_.empty()) {
      const Id id = pending_.back();
      pending_.pop_back();
      const Id before = memo_.exchange(canonical(originals_[id]), id);
      if (before != kNoId && before != id) unions += unite_congruent(before, id);
    }
    while (!analysis_pending_.empty()) {
      const Id id = analysis_pending_.back();
      analysis_pending_.pop_back();
      const Id leader = find(id);
      if (!analysis_->remake(*this, canonical(originals_[id]), leader)) continue;
      queue_parents(leader, analysis_pending_);
      analysis_->modify(*this, leader);
    }
  }
  return unions;
}

size_t EGraph::rebuild() {
  const size_t unions = close();
  if (!clean_ || classes_.empty()) renew_view();
  clean_ = true;
  return unions;
}

std::span<const ENode> EGraph::nodes(Id id) const {
  id = find(id);
  if (id >= ranges_.size()) return {};
  return {view_.data() + ranges_[id].first, ranges_[id].second - ranges_[id].first};
}

std::span<const Id> EGraph::classes_with(Family family) const {
  return family < by_family_.size() ? std::span<const Id>(by_family_[family])
                                    : std::span<const Id>();
}

size_t EGraph::bytes_soon() const {
  constexpr size_t kSoon = 1024;  // elements
  size_t sum = bytes() + memo_.growth_within(kSoon);
  const auto grows = [&](const auto& v) {
    if (v.size() + kSoon > v.capacity()) sum += 2 * v.capacity() * sizeof(v[0]);
  };
  grows(originals_);
  grows(leader_);
  grows(parents_);
  grows(parent_links_);
  grows(members_);
  return sum;
}

size_t EGraph::bytes() const {
  const auto held = [](const auto&... v) { return (... + (v.capacity() * sizeof(v[0]))); };
  return memo_.bytes() +
         held(originals_, leader_, parents_, parent_links_, members_, view_, ranges_, classes_,
              pending_, analysis_pending_) +
         (proofs_ ? proofs_->bytes() : 0);
}

}  // namespace exotune::eqsat
