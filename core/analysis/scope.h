#pragma once
// Scope: the names visible at a place, as a stack that walks push and pop, and windows resolved to
// the buffer behind them.
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

  void push(const Binding& b) { bindings_.push_back(b); }
  void push(const Stmt& s);  // what a statement binds for its later siblings; nothing for most
  void push_iter(Sym iter) { bindings_.push_back({iter}); }
  size_t size() const { return bindings_.size(); }
  void truncate(size_t n) { bindings_.resize(n); }

  /// Null when not visible.
  /// Linear in what is visible, from the newest on; what is asked for was usually bound close by.
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
  std::vector<Binding> bindings_;
};

}  // namespace exotune
