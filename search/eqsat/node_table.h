#pragma once
// E-nodes and the table that knows each of them once. Start at ENode.
#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "search/eqsat/flat_vector.h"
#include "search/eqsat/op.h"

namespace exotune::eqsat {

using Id = uint32_t;
constexpr Id kNoId = ~Id{0};
// With its operator a node is 16 bytes.
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
  // Without branches: which of them differs is anyone's guess.
  bool operator==(const ENode& o) const {
    return ((op ^ o.op) | (children[0] ^ o.children[0]) | (children[1] ^ o.children[1]) |
            (children[2] ^ o.children[2])) == 0;
  }
  auto operator<=>(const ENode&) const = default;
};

/// From nodes to ids: two nodes that are equal have one id (hash-consing). Open addressing over
/// slots of 8 bytes, the nodes aside in the order in which they came: a lookup is one cache miss at
/// a load of three quarters, and there are several for each match of a rule. Nothing is taken out:
/// a node whose children were merged stays under its old spelling, which then leads nowhere.
class NodeTable {
 public:
  /// Empty, with room for a few nodes.
  NodeTable();
  /// The id, or kNoId.
  Id find(const ENode& node) const;
  /// The id, or kNoId after the node was bound to `id`.
  Id find_or_insert(const ENode& node, Id id);
  /// Binds the node to `id`; returns the id it was bound to before, or kNoId.
  Id exchange(const ENode& node, Id id);
  /// Nodes, in all their spellings.
  size_t size() const { return entries_.size(); }
  /// Held now, whether used or not: what a memory limit counts.
  size_t bytes() const {
    return slots_.size() * sizeof(Slot) + entries_.capacity() * sizeof(Entry);
  }
  /// What the next growth takes besides, when `more` nodes cause one.
  size_t growth_within(size_t more) const;

 private:
  struct Entry {
    ENode node;
    Id id;
  };
  // No node has this number.
  static constexpr uint32_t kFree = ~uint32_t{0};
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = kFree;
  };
  // The upper bits of the hash say where to begin: a larger table keeps the order of a smaller one,
  // so growing is a walk through both.
  size_t home_of(uint32_t hash) const { return hash >> shift_; }
  size_t slot_of(const ENode& node, uint32_t hash) const;
  void insert(const ENode& node, Id id, size_t slot, uint32_t hash);
  bool is_full(size_t nodes) const { return nodes * 4 > slots_.size() * 3; }
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most three quarters of them taken
  FlatVector<Entry> entries_;
  int shift_;  // 32 less the logarithm of the number of slots
};

}  // namespace exotune::eqsat
