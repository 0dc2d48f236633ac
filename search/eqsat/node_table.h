#pragma once
// E-nodes and the table that knows each of them once. Start at ENode.
#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "search/eqsat/op.h"

namespace exotune::eqsat {

using Id = uint32_t;
constexpr Id kNoId = ~Id{0};
constexpr int kMaxChildren = 3;

/// An operator applied to classes. Operators of more children are nested ("pair", "cons").
struct ENode {
  Op op = kNoOp;
  std::array<Id, kMaxChildren> children = {kNoId, kNoId, kNoId};

  int arity() const {
    int n = 0;
    while (n < kMaxChildren && children[n] != kNoId) ++n;
    return n;
  }
  bool operator==(const ENode& o) const {
    return op == o.op && children[0] == o.children[0] && children[1] == o.children[1] &&
           children[2] == o.children[2];
  }
  auto operator<=>(const ENode&) const = default;
};

/// From nodes to ids: open addressing, nothing is ever taken out.
class NodeTable {
 public:
  NodeTable();
  /// The id, or kNoId.
  Id find(const ENode& node) const;
  /// Binds the node to `id`; returns the id it was bound to before, or kNoId.
  Id exchange(const ENode& node, Id id);
  size_t size() const { return size_; }
  size_t bytes() const { return entries_.size() * sizeof(Entry); }
  /// What the next growth takes besides, when `more` nodes cause one.
  size_t growth_within(size_t more) const {
    return (size_ + more) * 2 > entries_.size() ? 2 * bytes() : 0;
  }

 private:
  struct Entry {
    ENode node;
    Id id = kNoId;
  };
  size_t slot_of(const ENode& node) const;
  void grow();

  std::vector<Entry> entries_;  // a power of two, at most half full
  size_t mask_ = 0;
  size_t size_ = 0;
};

}  // namespace exotune::eqsat
