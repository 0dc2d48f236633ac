#include "search/eqsat/node_table.h"

#include <utility>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
namespace {

uint32_t hash_of(const ENode& node) {
  const uint64_t low = (uint64_t{node.op} << 32) | node.children[0];
  const uint64_t high = (uint64_t{node.children[1]} << 32) | node.children[2];
  uint64_t x = (low ^ (high * 0x9E3779B97F4A7C15ull)) * 0xD6E8FEB86659FD93ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return static_cast<uint32_t>(x >> 32);
}

}  // namespace

NodeTable::NodeTable() : slots_(64), shift_(26) {}

size_t NodeTable::slot_of(const ENode& node, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = home_of(hash);
  for (; slots_[slot].entry != kFree; slot = (slot + 1) & mask)
    if (slots_[slot].hash == hash && entries_[slots_[slot].entry].node == node) break;
  return slot;
}

Id NodeTable::find(const ENode& node) const {
  const Slot& slot = slots_[slot_of(node, hash_of(node))];
  return slot.entry == kFree ? kNoId : entries_[slot.entry].id;
}

Id NodeTable::find_or_insert(const ENode& node, Id id) {
  const uint32_t hash = hash_of(node);
  const size_t slot = slot_of(node, hash);
  if (slots_[slot].entry != kFree) return entries_[slots_[slot].entry].id;
  insert(node, id, slot, hash);
  return kNoId;
}

Id NodeTable::exchange(const ENode& node, Id id) {
  const uint32_t hash = hash_of(node);
  const size_t slot = slot_of(node, hash);
  if (slots_[slot].entry != kFree) return std::exchange(entries_[slots_[slot].entry].id, id);
  insert(node, id, slot, hash);
  return kNoId;
}

void NodeTable::insert(const ENode& node, Id id, size_t slot, uint32_t hash) {
  slots_[slot] = {hash, static_cast<uint32_t>(entries_.size())};
  entries_.push_back({node, id});
  if (is_full(entries_.size())) grow();
}

void NodeTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  EXO_CHECK(--shift_ >= 0);
  const size_t mask = slots_.size() - 1;
  for (const Slot& moved : old) {
    if (moved.entry == kFree) continue;
    size_t slot = home_of(moved.hash);
    while (slots_[slot].entry != kFree) slot = (slot + 1) & mask;
    slots_[slot] = moved;
  }
}

size_t NodeTable::growth_within(size_t more) const {
  size_t sum = 0;
  if (is_full(entries_.size() + more)) sum += 2 * slots_.size() * sizeof(Slot);
  if (entries_.size() + more > entries_.capacity()) sum += 2 * entries_.capacity() * sizeof(Entry);
  return sum;
}

}  // namespace exotune::eqsat
