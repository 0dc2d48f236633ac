#pragma once
// What searching reads of an e-graph: the nodes of each class as they were at the last rebuild.
// Start at EGraphView.
//
// A node has a birth: the number of the first view that had it, spelled so, in this class. A match
// whose nodes are all older than a rule's last turn has been applied then, so equality saturation
// looks at each match once.
#include <cstdint>
#include <span>
#include <vector>

#include "search/eqsat/flat_vector.h"
#include "search/eqsat/node_table.h"
#include "search/eqsat/op.h"

namespace exotune::eqsat {

class Analysis;
class EGraph;

/// Made anew by each rebuild, in the memory of the one before. What it returns is valid
/// until the next one.
class EGraphView {
 public:
  /// Ids of all classes, ascending.
  std::span<const Id> classes() const { return {now_.classes.data(), now_.classes.size()}; }
  /// The classes that hold a node of the family, ascending.
  std::span<const Id> classes_with(Family family) const {
    return family < by_family_.size() ? std::span<const Id>(by_family_[family])
                                      : std::span<const Id>();
  }
  /// The nodes of a class, by the id that led it at the last rebuild: sorted by operator, without
  /// doubles. Empty for any other id.
  std::span<const ENode> nodes(Id leader) const {
    if (leader >= ranges_.size()) return {};
    const Range& range = ranges_[leader];
    return {now_.nodes.data() + range.first, range.last - range.first};
  }
  /// The same for a leader, if a node of the family may be among them; else none.
  std::span<const ENode> nodes(Id leader, Family family) const {
    const Range& range = ranges_[leader];
    if (((range.families >> (family & 31)) & 1) == 0) return {};
    return {now_.nodes.data() + range.first, range.last - range.first};
  }
  /// The birth of a node of this view, which is given by its place.
  uint32_t birth(const ENode& node) const {
    return now_.births[static_cast<size_t>(&node - now_.nodes.data())];
  }

  uint32_t number() const { return number_; }  // 1 for the first
  size_t node_count() const { return now_.nodes.size(); }
  /// Held by its tables.
  size_t bytes() const;
  /// What the next view takes beyond that, when nodes and ids grew by so many and none became
  /// equal.
  size_t growth(size_t nodes, size_t ids) const;

  /// Makes the next view of `graph`, whose unions are closed: the nodes of this one and those of
  /// the ids from `added` on, spelled as of now, less those that `analysis` (may be null) does not
  /// keep.
  /// Cost: a pass over all nodes, and sorting of classes that changed.
  void renew(const EGraph& graph, const Analysis* analysis, Id added);

 private:
  /// Of one class.
  struct Range {
    uint32_t first = 0, last = 0;  // its nodes' places in Nodes::nodes
    uint32_t families = 0;         // a bit for each that the class has, by its number modulo 32
  };
  struct Nodes {
    FlatVector<ENode> nodes;      // by class
    FlatVector<uint32_t> births;  // of each node
    FlatVector<Id> classes;       // their leaders, ascending
    FlatVector<uint32_t> ends;    // of each class's nodes, behind those of the class before
  };
  /// A node while its class is sorted.
  struct Aged {
    ENode node;
    uint32_t birth;
  };
  class Renewal;

  Nodes now_, before_;        // the last one's memory is used again
  FlatVector<Range> ranges_;  // by id
  std::vector<std::vector<Id>> by_family_;
  FlatVector<Aged> sorted_;  // of one class
  uint32_t number_ = 0;
};

}  // namespace exotune::eqsat
