#include "core/base/symbol.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace exotune {

namespace {
// Names are pooled for the life of the process: append-only, so a pointer to one never dangles.
const std::string* pooled(std::string_view name) {
  static std::mutex mutex;
  static auto* pool = new std::unordered_set<std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  return &*pool->emplace(name).first;
}
std::atomic<uint32_t> next_id{1};
}  // namespace

Sym Sym::fresh(std::string_view name) {
  return Sym(pooled(name), next_id.fetch_add(1, std::memory_order_relaxed));
}

const std::string& Sym::name() const {
  static const std::string* null_name = new std::string("<null>");
  return name_ ? *name_ : *null_name;
}

}  // namespace exotune
