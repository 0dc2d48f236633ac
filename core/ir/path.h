#pragma once
// Path: the way from a proc's root to a statement or expression, and what is in scope there.
// Cursors (core/cursor) are a proc plus a path; analyses take (proc, path).
#include <optional>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

enum class Child : uint8_t { kBody, kOrelse, kExpr };
struct Step {
  Child child;
  int index;
  friend bool operator==(const Step&, const Step&) = default;
};
/// Statement steps come first, expression steps (kExpr) last. The empty path is the proc itself.
/// A path whose last step is kBody/kOrelse k names statement k, and as a gap the place before it
/// (k may then equal the block's length).
using Path = std::vector<Step>;

std::string str(const Path& path);  // "body[0].body[2].expr[1]", for tests and messages

/// Null when the path leads nowhere.
StmtPtr stmt_at(const Proc& p, const Path& path);
ExprPtr expr_at(const Proc& p, const Path& path);
/// The block that the last statement step of `path` indexes into (the body for {kBody, k}).
const Block& block_at(const Proc& p, const Path& path);
/// Splits off the trailing kExpr steps.
Path stmt_part(const Path& path);
Path parent_stmt(const Path& stmt_path);     // drops the last step; {} for a top-level statement
Path sibling(const Path& path, int offset);  // last index + offset
bool is_prefix(const Path& prefix, const Path& path);

/// The proc's body with statements [k, k+n) at `first` replaced. Rebuilds only the path to the
/// root.
Block splice(const Proc& p, const Path& first, int n, const Block& with);
/// The proc's body with the expression at `path` replaced.
Block with_expr_at(const Proc& p, const Path& path, const ExprPtr& e);

/// A name that is visible at a path: an argument, allocation, window, or loop iterator.
struct ScopeEntry {
  Sym name;
  Type type;      // loop iterators: kIndex
  MemoryPtr mem;  // arguments and allocations; a window has its source's memory; null for control
  const WindowStmt* window = nullptr;  // set for windows; `rhs` names the source
};
/// Everything visible just before the statement at `path`, outermost first.
std::vector<ScopeEntry> scope_at(const Proc& p, const Path& path);
/// The entry of `s` at `path`, or nothing.
std::optional<ScopeEntry> lookup(const Proc& p, const Path& path, Sym s);

/// Every statement path in pre-order.
std::vector<Path> all_stmt_paths(const Proc& p);

}  // namespace exotune
