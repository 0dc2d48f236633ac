#pragma once
// Sym: an interned name with a unique identity. Two symbols may print alike and still be different
// variables; comparing symbols is comparing ids, never names.
//
// Ids grow in order of creation, so they differ between threads and runs: nothing that reaches the
// user (output, hashes on disk, search order) may depend on an id.
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace exotune {

class Sym {
 public:
  /// The null symbol; `valid()` is false.
  Sym() = default;
  /// A new symbol that prints as `name`. Thread-safe.
  static Sym fresh(std::string_view name);
  /// A new symbol with the same name as this one.
  Sym copy() const { return fresh(name()); }

  /// As the user wrote it; two symbols in one scope may share it, and the printer then tells them
  /// apart.
  const std::string& name() const;
  uint32_t id() const { return id_; }
  bool valid() const { return id_ != 0; }
  /// One bit of 64, chosen by id: the unit of the "surely does not mention" filters in IR nodes.
  uint64_t bloom() const { return uint64_t{1} << ((id_ * 0x9E3779B1u) >> 26); }

  friend bool operator==(Sym a, Sym b) { return a.id_ == b.id_; }
  friend auto operator<=>(Sym a, Sym b) { return a.id_ <=> b.id_; }

 private:
  Sym(const std::string* name, uint32_t id) : name_(name), id_(id) {}
  const std::string* name_ = nullptr;  // pooled, lives for the whole process
  uint32_t id_ = 0;
};

}  // namespace exotune

template <>
struct std::hash<exotune::Sym> {
  size_t operator()(exotune::Sym s) const { return s.id() * 0x9E3779B97F4A7C15ull; }
};
