#include "core/ir/memory.h"

namespace exotune {

namespace {
const char* const kKindNames[] = {"heap",   "stack",         "static",
                                  "vector", "register_file", "scratchpad"};

MemoryPtr built_in(const char* name, MemoryKind kind) {
  auto m = std::make_shared<Memory>();
  m->name = name;
  m->kind = kind;
  return m;
}
}  // namespace

const char* name_of(MemoryKind k) { return kKindNames[static_cast<int>(k)]; }

std::optional<MemoryKind> memory_kind(const std::string& name) {
  for (int k = 0; k < 6; ++k)
    if (name == kKindNames[k]) return static_cast<MemoryKind>(k);
  return std::nullopt;
}

const std::string* Memory::c_type(ScalarType element, int64_t lanes) const {
  const bool filled = bytes == 0 || lanes * bytes_of(element) == bytes;
  const auto it =
      c_types.find(filled ? std::string(exotune::name_of(element))
                          : exotune::name_of(element) + ("[" + std::to_string(lanes) + "]"));
  return it == c_types.end() ? nullptr : &it->second;
}

MemoryPtr dram() {
  static const MemoryPtr m = built_in("DRAM", MemoryKind::kHeap);
  return m;
}
MemoryPtr dram_stack() {
  static const MemoryPtr m = built_in("DRAM_STACK", MemoryKind::kStack);
  return m;
}
MemoryPtr dram_static() {
  static const MemoryPtr m = built_in("DRAM_STATIC", MemoryKind::kStatic);
  return m;
}

const ConfigField* Config::find(const std::string& field) const {
  for (const ConfigField& f : fields)
    if (f.name == field) return &f;
  return nullptr;
}

}  // namespace exotune
