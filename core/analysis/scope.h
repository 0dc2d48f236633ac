#pragma once
// Scope: the names visible at a place, as a stack that walks push and pop, and windows resolved to
// the buffer behind them.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/path.h"

namespace exotune {

/// Borrowed from the proc, which must outlive the scope.
struct Binding {
  Sym name;
  const Type* type = nullptr;          // null: a loop iterator
  const Memory* mem = nullptr;         // arguments and allocations of data
  const WindowExpr* window = nullptr;  // set for windows: what they look at
  const Alloc* alloc = nullptr;        // set for allocations
  bool argument = false;
};

/// An element of a root buffer (an argument or allocation).
struct Location {
  Sym root;
  std::vector<ExprPtr> idx;
};

/// Names are found from the innermost outwards, so a name bound twice means the later one. The
/// walks that use it push what they enter and truncate to the size they noted before.
class Scope {
 public:
  Scope() = default;
  /// The arguments of `p`, then everything visible just before `at`.
  Scope(const Proc& p, const Path& at);
  explicit Scope(const Proc& p);

  void push(const Binding& b);
  void push(const Stmt& s);  // what a statement binds for its later siblings; nothing for most
  void push_iter(Sym iter) { push(Binding{iter}); }
  size_t size() const { return bindings_.size(); }
  void truncate(size_t n);

  /// Null when not visible. Vectorized bodies bind hundreds of registers: what is looked through is
  /// a small part of them.
  const Binding* find(Sym s) const;
  /// The allocation or argument behind a name; the name itself when unknown.
  Sym root_of(Sym name) const;
  /// Follows windows. `idx` has one entry per dimension of `name`.
  Location resolve(Sym name, std::vector<ExprPtr> idx) const;
  /// The root and its dimension that dimension `dim` of `name` runs along.
  struct Axis {
    Sym root;
    int dim;
  };
  Axis axis_of(Sym name, int dim) const;
  /// Size of dimension k of `name`: an expression valid where it was bound.
  std::vector<ExprPtr> shape_of(Sym name) const;
  const std::vector<Binding>& bindings() const { return bindings_; }

 private:
  static constexpr size_t kChains = 64;
  static size_t chain_of(Sym s) { return s.id() % kChains; }

  std::vector<Binding> bindings_;
  // Those of one chain, from the newest to the oldest, by their places; one past it, 0 = the end.
  std::array<uint32_t, kChains> newest_{};
  std::vector<uint32_t> older_;
};

}  // namespace exotune
