#pragma once
// E-nodes and the table that knows each of them once. Start at ENode.
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <utility>

#include "core/base/diagnostic.h"
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

/// Where a node belongs in a table of any size.
inline uint32_t hash_of(const ENode& node) {
  const uint64_t low = (uint64_t{node.op} << 32) | node.children[0];
  const uint64_t high = (uint64_t{node.children[1]} << 32) | node.children[2];
  uint64_t x = (low ^ (high * 0x9E3779B97F4A7C15ull)) * 0xD6E8FEB86659FD93ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return static_cast<uint32_t>(x >> 32);
}

/// Open addressing over nodes of at most `kChildren` children and their ids, all in place: a
/// look-up is one cache miss. With two children a slot is 16 bytes, four to a line.
template <size_t kChildren>
class NodeSlots {
 public:
  /// Empty, with room for a few nodes.
  NodeSlots() { allot(kFewest); }
  /// The id of the node, or kNoId.
  Id find(const ENode& node) const { return slots_[slot_of(node)].id; }
  /// The id, or kNoId after the node was bound to `id`.
  Id find_or_insert(const ENode& node, Id id) {
    Slot& slot = slots_[slot_of(node)];
    if (slot.id != kNoId) return slot.id;
    insert(slot, node, id);
    return kNoId;
  }
  /// Binds the node to `id`; returns the id it was bound to before, or kNoId.
  Id exchange(const ENode& node, Id id) {
    Slot& slot = slots_[slot_of(node)];
    if (slot.id != kNoId) return std::exchange(slot.id, id);
    insert(slot, node, id);
    return kNoId;
  }

  size_t size() const { return count_; }
  size_t bytes() const { return slots_.size() * sizeof(Slot); }
  size_t growth_within(size_t more) const { return is_full(count_ + more) ? 2 * bytes() : 0; }

 private:
  static constexpr size_t kFewest = 64;  // slots
  struct Slot {
    Op op;
    std::array<Id, kChildren> children;
    Id id;  // kNoId: free
  };

  static bool holds(const Slot& slot, const ENode& node) {
    uint32_t differs = slot.op ^ node.op;
    for (size_t k = 0; k < kChildren; ++k) differs |= slot.children[k] ^ node.children[k];
    return differs == 0;
  }
  static ENode node_in(const Slot& slot) {
    ENode node{slot.op, {kNoId, kNoId, kNoId}};
    std::copy(slot.children.begin(), slot.children.end(), node.children.begin());
    return node;
  }
  // The upper bits of the hash say where to begin: a larger table keeps the order of a smaller one,
  // so growing is a walk through both.
  size_t home_of(uint32_t hash) const { return hash >> shift_; }
  // The one that holds the node, or the free one where it would go.
  size_t slot_of(const ENode& node) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = home_of(hash_of(node));
    while (slots_[slot].id != kNoId && !holds(slots_[slot], node)) slot = (slot + 1) & mask;
    return slot;
  }
  void insert(Slot& slot, const ENode& node, Id id) {
    slot.op = node.op;
    std::copy_n(node.children.begin(), kChildren, slot.children.begin());
    slot.id = id;
    if (is_full(++count_)) grow();
  }
  // At most three of four slots: more room would cost more to touch for the first time than it
  // saves.
  bool is_full(size_t nodes) const { return nodes * 4 > slots_.size() * 3; }
  void allot(size_t slots) {
    slots_.resize(slots);
    std::fill(slots_.begin(), slots_.end(), Slot{kNoOp, {}, kNoId});
  }
  void grow() {
    FlatVector<Slot> old;
    old.swap(slots_);
    allot(2 * old.size());
    EXO_CHECK(--shift_ >= 0);
    for (const Slot& moved : old)
      if (moved.id != kNoId) slots_[slot_of(node_in(moved))] = moved;
  }

  FlatVector<Slot> slots_;  // a power of two
  int shift_ = 26;          // 32 less the logarithm of the number of slots
  size_t count_ = 0;
};

/// From nodes to ids: two nodes that are equal have one id (hash-consing). There are several
/// look-ups for each match of a rule, and most nodes have two children or fewer: those of three are
/// kept apart, so that the others take no room for a third. Nothing is taken out: a node whose
/// children were merged stays under its old spelling, which then leads nowhere.
class NodeTable {
 public:
  /// As those of NodeSlots.
  Id find(const ENode& node) const { return has_three(node) ? three_.find(node) : two_.find(node); }
  Id find_or_insert(const ENode& node, Id id) {
    return has_three(node) ? three_.find_or_insert(node, id) : two_.find_or_insert(node, id);
  }
  Id exchange(const ENode& node, Id id) {
    return has_three(node) ? three_.exchange(node, id) : two_.exchange(node, id);
  }
  /// Nodes, in all their spellings.
  size_t size() const { return two_.size() + three_.size(); }
  /// Held now, whether used or not: what a memory limit counts.
  size_t bytes() const { return two_.bytes() + three_.bytes(); }
  /// What the next growth takes besides, when `more` nodes cause one.
  size_t growth_within(size_t more) const {
    return two_.growth_within(more) + three_.growth_within(more);
  }

 private:
  static bool has_three(const ENode& node) { return node.children[2] != kNoId; }

  NodeSlots<2> two_;
  NodeSlots<3> three_;
};

}  // namespace exotune::eqsat
