#pragma once
// Which matches of a rule were applied, for rules that may refuse one now and take it later. Start
// at AppliedMatches.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

/// A match as a number. Two that share one would cost a rewrite, never make a wrong one.
inline uint64_t hash_of_match(Id root, Bindings bindings) {
  uint64_t h = (root + 0x9E3779B97F4A7C15ull) * 0xD6E8FEB86659FD93ull;
  for (const uint32_t value : bindings) {
    h = (h ^ (h >> 32) ^ value) * 0xD6E8FEB86659FD93ull;
    h ^= h >> 29;
  }
  return h ^ (h >> 32);
}

/// Matches of a conditional or computed rule that were applied: those that were not may be next
/// time. (A plain rule needs no such list: what it has made equal once stays so, and matches know
/// their age.) Open addressing, at most half full.
class AppliedMatches {
 public:
  /// True the first time.
  bool insert(uint64_t key) {
    key += key == 0;
    if ((count_ + 1) * 2 > slots_.size()) grow();
    uint64_t& slot = slots_[slot_of(key)];
    if (slot == key) return false;
    slot = key;
    ++count_;
    return true;
  }
  bool contains(uint64_t key) const {
    key += key == 0;
    return !slots_.empty() && slots_[slot_of(key)] == key;
  }
  size_t bytes() const { return slots_.capacity() * sizeof(slots_[0]); }

 private:
  // Where the key is, or would go.
  size_t slot_of(uint64_t key) const {
    size_t slot = key & (slots_.size() - 1);
    while (slots_[slot] != 0 && slots_[slot] != key) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    std::vector<uint64_t> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (const uint64_t key : old)
      if (key != 0) insert(key);
  }
  std::vector<uint64_t> slots_;  // 0: free
  size_t count_ = 0;
};

}  // namespace exotune::eqsat
