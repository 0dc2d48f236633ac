#pragma once
// Memories and configuration state: both are defined by users as text in a target folder
// (docs/targets.md) and are plain data here.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/type.h"

namespace exotune {

enum class MemoryKind : uint8_t { kHeap, kStack, kStatic, kVector, kRegisterFile, kScratchpad };
const char* name_of(MemoryKind k);  // "heap", "stack", ...
std::optional<MemoryKind> memory_kind(const std::string& name);

/// An `@memory class`. Each kind has working defaults; a non-empty template overrides one.
struct Memory {
  std::string name;
  MemoryKind kind = MemoryKind::kHeap;
  bool addressable = true;  // C code may read and write elements without an instruction
  int count = 0;            // registers in the file (vector, register_file); 0 = unlimited
  int64_t bytes = 0;        // capacity; vector: width of one register in bytes
  std::vector<int> shape;   // register_file: the only shape a register can hold
  int alignment = 64;       // bytes
  /// vector: C types of what a register holds, by element type ("f32" -> "__m512") where elements
  /// fill it, with their number ("f32[8]" -> "__m256") where it holds fewer.
  std::map<std::string, std::string> c_types;
  /// C templates by operation: alloc, free, window, read, write, reduce. Absent = the kind's
  /// default.
  std::map<std::string, std::string> templates;
  std::string c_global;  // text wanted once at file scope

  /// The C type of a vector's register with so many elements; null where it cannot hold them.
  const std::string* c_type(ScalarType element, int64_t lanes) const;
};
using MemoryPtr = std::shared_ptr<const Memory>;

/// The three built-in memories.
MemoryPtr dram();  // heap; the default
MemoryPtr dram_stack();
MemoryPtr dram_static();

struct ConfigField {
  std::string name;
  ScalarType type;
};
/// An `@config class`: named fields of device state.
struct Config {
  std::string name;
  bool readable = true;  // false: lives in hardware only (`readwrite=False`)
  std::vector<ConfigField> fields;
  const ConfigField* find(const std::string& field) const;
};

}  // namespace exotune
