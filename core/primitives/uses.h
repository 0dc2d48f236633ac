#pragma once
// How code uses a buffer, and rewriting those uses. Shared by the layout primitives, staging and
// inlining. Start at map_uses.
//
// A use is an element access `x[i, j]` (read, written or passed to a scalar formal), a window
// `x[lo:hi, pt]`, or the whole tensor `x` passed to a call. Whole tensors are shown to the map as
// full windows.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/primitives/internal.h"

namespace exotune::internal {

struct ElementUse {
  Sym name;
  std::vector<ExprPtr> idx;
};
struct WindowUse {
  Sym name;
  std::vector<WindowAccess> access;
};

/// What to make of each use of `buffer`. A function may return nothing to leave the use as it is,
/// and throws SchedulingError when the use does not fit. `at` is the statement the use stands in.
struct UseMap {
  Sym buffer;
  std::vector<ExprPtr> shape;  // of `buffer`, for whole-tensor uses
  std::function<std::optional<ElementUse>(const std::vector<ExprPtr>& idx, const Path& at)> element;
  std::function<std::optional<WindowUse>(const std::vector<WindowAccess>& access, const Path& at)>
      window;
  /// Shape of a buffer the map leads to, to tell whole tensors from windows of them.
  std::function<std::vector<ExprPtr>(Sym name)> shape_of;
  const char* op = "";
};

/// The block whose first statement has the path `first`, with every use mapped. Tree shape is kept.
Block map_uses(const Block& block, const Path& first, const UseMap& map);

/// The rest of the block after the statement at `path` (the scope of what it binds).
Block rest_of_block(const Proc& p, const Path& path);

/// `p`'s body where the scope of the allocation at `alloc` is mapped and the allocation replaced.
Block map_scope(const Proc& p, const Path& alloc, const StmtPtr& new_alloc, const UseMap& map);

// --- aliases ----------------------------------------------------------------------------------
/// A name seen as a window of its root buffer: per root dimension a point or an interval.
struct Alias {
  Sym root;
  std::vector<WindowAccess> access;
  bool direct = true;  // the name is the root itself
};
/// Resolves window statements visible at `at`. Nothing for control names.
std::optional<Alias> resolve_alias(const Proc& p, const Path& at, Sym name);
/// Coordinates within an alias, in the root's coordinates.
std::vector<ExprPtr> compose(const Alias& alias, const std::vector<ExprPtr>& idx);
std::vector<WindowAccess> compose(const Alias& alias, const std::vector<WindowAccess>& access);
/// Names bound in `block` (at any depth) as windows of anything in `names`, closed transitively.
std::set<Sym> aliases_in(const Block& block, std::set<Sym> names);
bool mentions_any(const Block& block, const std::set<Sym>& names);
bool mentions_any(const StmtPtr& s, const std::set<Sym>& names);

/// Full window over `shape`.
std::vector<WindowAccess> whole_window(const std::vector<ExprPtr>& shape);
/// The interval's length, folded.
ExprPtr extent(const WindowAccess& a);
std::vector<ExprPtr> window_shape(const std::vector<WindowAccess>& access);

/// stride(name, dim) as an expression over the root: a literal or a product for dense buffers, else
/// a StrideExpr of the root.
ExprPtr stride_of(const Proc& p, const Path& at, Sym name, int dim);

// --- small things -----------------------------------------------------------------------------
bool is_literal(const ExprPtr& e, int64_t v);
ExprPtr fold(const ExprPtr& e);                               // normalize
ExprPtr conjunction(const std::vector<ExprPtr>& conditions);  // true when empty
/// True when every symbol of `e` is a control name visible at `at`.
bool in_scope(const Proc& p, const Path& at, const ExprPtr& e);
/// The loops that enclose `at`, outermost first (paths).
std::vector<Path> enclosing_loops(const Proc& p, const Path& at);
/// Requires that the `par` loops around `at` still have no race in `p`.
void require_parallel_loops(const Proc& p, const Path& at, const char* op);

}  // namespace exotune::internal
