#include "search/eqsat/node_table.h"

#include <utility>

namespace exotune::eqsat {
namespace {

uint64_t hash_of(const ENode& node) {
  const uint64_t low = (uint64_t{node.op} << 32) | node.children[0];
  const uint64_t high = (uint64_t{node.children[1]} << 32) | node.children[2];
  uint64_t x = (low ^ (high * 0x9E3779B97F4A7C15ull)) * 0xD6E8FEB86659FD93ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return x ^ (x >> 29);
}

}  // namespace

NodeTable::NodeTable() : entries_(64), mask_(63) {}

size_t NodeTable::slot_of(const ENode& node) const {
  size_t slot = hash_of(node) & mask_;
  while (entries_[slot].id != kNoId && entries_[slot].node != node) slot = (slot + 1) & mask_;
  return slot;
}

Id NodeTable::find(const ENode& node) const { return entries_[slot_of(node)].id; }

Id NodeTable::exchange(const ENode& node, Id id) {
  Entry& entry = entries_[slot_of(node)];
  if (entry.id != kNoId) return std::exchange(entry.id, id);
  entry = {node, id};
  if (++size_ * 2 > entries_.size()) grow();
  return kNoId;
}

void NodeTable::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  mask_ = entries_.size() - 1;
  for (const Entry& entry : old)
    if (entry.id != kNoId) entries_[slot_of(entry.node)] = entry;
}

}  // namespace exotune::eqsat
