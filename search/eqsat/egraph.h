#pragma once
// An e-graph: classes of terms that are equal, kept closed under congruence. Start at EGraph.
//
// Terms are added bottom-up (`add`), classes are merged (`unite`), and `rebuild` restores
// congruence and the sorted view that searching needs. Between rebuilds the view is the one of the
// last rebuild, which is what equality saturation wants: search everything, apply everything,
// rebuild once.
//
// Storage is flat: an e-node is 16 bytes, classes are ranges of one array made anew by `rebuild`
// (egraph_view.h), and nodes that wait for a merge hang on lists of indices, so that a union costs
// no allocation. Deferred rebuilding and analyses follow Willsey et al., "egg" (POPL 2021),
// sections 3 and 4.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/egraph_view.h"
#include "search/eqsat/flat_vector.h"
#include "search/eqsat/node_table.h"
#include "search/eqsat/op.h"

namespace exotune::eqsat {

class EGraph;
class ProofForest;

/// What is known of a class beyond its nodes: sizes, a constant, a type. The implementation keeps
/// its own facts, one for each id that `make` was called with; the e-graph says when to look.
class Analysis {
 public:
  virtual ~Analysis() = default;
  /// A new class `id` holds just `node`. Facts of the node's children are there already.
  virtual void make(const EGraph& graph, const ENode& node, Id id) = 0;
  /// `from` disappears into `into`. Returns whether the fact of `into` (first) and of `from`
  /// (second) differ from the merged one, so that parents are looked at again.
  virtual std::pair<bool, bool> merge(Id into, Id from) = 0;
  /// What `node`, a member of class `id`, says now; returns whether the class's fact changed by it.
  virtual bool remake(const EGraph& graph, const ENode& node, Id id) = 0;
  /// May add terms and unite them with `id`: a folded constant, for example. Called after `make`,
  /// and after each merge or change of a fact. Must stop by itself.
  virtual void modify(EGraph& /*graph*/, Id /*id*/) {}
  /// Whether a rebuild keeps this node in its class. What is dropped is not searched any more, but
  /// stays known: adding it again finds the class.
  virtual bool keeps(const EGraph& /*graph*/, Id /*id*/, const ENode& /*node*/) const {
    return true;
  }
};

class EGraph {
 public:
  /// `analysis` may be null; both outlive the graph. With `proofs`, each union is recorded and
  /// explain() (proof_forest.h) can tell why two terms are equal; adding then costs about twice as
  /// much.
  explicit EGraph(const OpTable& ops, Analysis* analysis = nullptr, bool proofs = false);
  ~EGraph();
  EGraph(const EGraph&) = delete;
  EGraph& operator=(const EGraph&) = delete;

  /// The class of this node, made when it is new; children are ids of this graph. The id stands for
  /// exactly this term when proofs are kept, for some equal term otherwise; find() gives the class.
  Id add(const ENode& original) {
    const ENode node = canonical(original);
    const Id known = memo_.find_or_insert(node, static_cast<Id>(nodes_.size()));
    if (known == kNoId) return add_class(node, original);
    return proofs_ ? add_spelling(original, known) : known;
  }
  Id add(Op op, std::span<const Id> children);
  Id add(Op op, std::initializer_list<Id> children = {}) {
    return add(op, std::span<const Id>(children.begin(), children.size()));
  }
  /// The class that holds this node, or kNoId. Adds nothing.
  Id lookup(const ENode& node) const {
    const Id known = memo_.find(canonical(node));
    return known == kNoId ? kNoId : find(known);
  }

  /// Merges two classes; false when they were one. `rule` is what proofs name as the reason.
  bool unite(Id a, Id b, int rule = kGiven) { return find(a) != find(b) && merge(a, b, rule); }
  static constexpr int kGiven = -1;  // united by the caller, not by a rule

  /// The leader of the id's class: the same for two ids exactly when they are known to be equal.
  Id find(Id id) const {
    // Path halving: cheap, and as good as full compression in practice.
    while (leader_[id] != id) {
      leader_[id] = leader_[leader_[id]];
      id = leader_[id];
    }
    return id;
  }
  /// The node with the leaders of its children.
  ENode canonical(ENode node) const {
    for (Id& child : node.children)
      if (child != kNoId) child = find(child);
    return node;
  }
  /// Closes the graph under congruence and renews the view. Returns how many unions that took.
  size_t rebuild();
  /// The first half of that: the view stays the one of the last rebuild. Cost: the nodes whose
  /// children were merged since the last time.
  size_t close();
  /// Nothing was added or united since the last rebuild.
  bool clean() const { return clean_; }

  /// The view of the last rebuild: ids of all classes, ascending; a class's nodes, sorted by
  /// operator and without doubles.
  const EGraphView& view() const { return view_; }
  std::span<const Id> classes() const { return view_.classes(); }
  std::span<const ENode> nodes(Id id) const { return view_.nodes(find(id)); }

  size_t class_count() const { return class_count_; }       // now
  size_t node_count() const { return view_.node_count(); }  // in the view
  size_t term_count() const { return memo_.size(); }        // nodes ever known, in all spellings
  size_t id_count() const { return nodes_.size(); }
  /// Bytes held by the tables; what a memory limit is checked against.
  size_t bytes() const;
  /// bytes() while the tables grow that are nearly full, old and new ones together.
  size_t bytes_soon() const;

  /// The node that the id was made for: as it was added when proofs are kept, in some later
  /// spelling of the same term otherwise.
  const ENode& original(Id id) const;
  /// The same, spelled as of the last time the graph was closed. Its operator is kNoOp for an id
  /// that only stands for another spelling of a term, in proofs.
  const ENode& node(Id id) const { return nodes_[id]; }
  const OpTable& ops() const { return ops_; }
  bool has_analysis() const { return analysis_ != nullptr; }
  /// Null when none are kept.
  const ProofForest* proofs() const { return proofs_.get(); }

 private:
  // Of a list whose links are indices.
  static constexpr uint32_t kEnd = ~uint32_t{0};
  // A ring, whose last link leads to the first: two of them are joined by an exchange.
  struct ParentList {
    uint32_t last = kEnd, count = 0;
  };
  struct ParentLink {
    Id parent;
    uint32_t next;
  };

  /// A class of its own for a node that nobody knows: id, memo, parents, fact.
  Id add_class(const ENode& canonical, const ENode& original);
  /// With proofs: an id for exactly this term, whose class is known under another spelling.
  Id add_spelling(const ENode& original, Id known);
  /// `parent` is looked at again when the class of `child` is merged.
  void note_parent(Id child, Id parent);
  template <typename Visit>
  void for_each_parent(Id id, const Visit& visit) const;
  /// Those nodes may have become equal to others: they wait for close().
  void queue_parents(Id id);
  /// Their classes may learn from a changed fact: they wait for close().
  void queue_parents_to_learn(Id id);
  /// Of two classes, the one with more parents stays, so that fewer nodes are looked at again.
  bool merge(Id a, Id b, int reason);
  /// One waiting node: entered under its new spelling, or united with the node that has it.
  void close_one(Id id, size_t& unions);

  // In the place of a rule: the children were equal.
  static constexpr int kCongruence = -2;

  const OpTable& ops_;
  Analysis* analysis_;
  std::unique_ptr<ProofForest> proofs_;
  mutable FlatVector<Id> leader_;   // union-find by id
  FlatVector<ENode> nodes_;         // by id, as node() says
  NodeTable memo_;                  // canonical node -> id
  FlatVector<ParentList> parents_;  // by leader
  FlatVector<ParentLink> parent_links_;
  FlatVector<Id> pending_;           // whose nodes may have become equal to others, each once
  FlatVector<uint8_t> is_pending_;   // by id
  FlatVector<Id> analysis_pending_;  // whose class may learn from them
  Id viewed_ = 0;                    // how many ids there were at the last rebuild
  size_t class_count_ = 0;
  bool clean_ = true;
  EGraphView view_;
};

}  // namespace exotune::eqsat
