#pragma once
// Something computed once per callee and remembered while the callee lives. Thread-safe; two
// threads may compute the same entry, the later one is kept.
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/ir/proc.h"

namespace exotune {

/// T is copied out, so keep it small or shared. The key is the proc's address, guarded by a weak
/// pointer: an address that was freed and given to another proc is not mistaken for the old one.
template <class T>
class ProcCache {
 public:
  /// Nothing when it was never computed, was thrown away, or belongs to a proc that is gone.
  std::optional<T> find(const ProcPtr& p) const {
    std::lock_guard lock(mutex_);
    auto it = known_.find(p.get());
    // Another proc may have come to live at the address.
    if (it == known_.end() || it->second.proc.lock() != p) return std::nullopt;
    return it->second.value;
  }
  /// Throws everything away when it is full: simpler than ages, and a full cache means that
  /// thousands of procs came and went since.
  void insert(const ProcPtr& p, T value) {
    std::lock_guard lock(mutex_);
    if (known_.size() > kMaxEntries) known_.clear();
    known_[p.get()] = {p, std::move(value)};
  }

 private:
  /// A search holds some hundreds of callees at a time: instructions, and procs of a user's
  /// library.
  static constexpr size_t kMaxEntries = 4096;
  struct Entry {
    std::weak_ptr<const Proc> proc;
    T value;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const Proc*, Entry> known_;
};

}  // namespace exotune
