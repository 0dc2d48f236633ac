#pragma once
// What the primitives that change an allocation's layout share (layout.cc, layout_resize.cc). Start
// at Site.
#include <string>
#include <vector>

#include "core/primitives/calls.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

/// The allocation that a primitive was pointed at, with what each of them looks up about it.
struct Site {
  Cursor cursor;
  const Alloc* alloc;
  const Path& path() const { return cursor.path(); }
  const std::vector<ExprPtr>& shape() const { return alloc->type.shape; }
  int rank() const { return alloc->type.rank(); }
};

Site site_of(const ProcPtr& p, const Where& where);

/// The place whose names the sizes and indices of an allocation or argument may use.
Path scope_of(const ProcPtr& p, const Where& buffer);

/// Refuses a dimension that it does not have.
void require_dim(const Site& s, int dim, const char* op);

/// The same allocation with another shape.
StmtPtr reshaped(const Site& s, std::vector<ExprPtr> shape);

/// Applies `map` to the scope of the allocation, then re-proves the calls that take the buffer.
ProcPtr relayout(const ProcPtr& p, const Site& s, const StmtPtr& new_alloc, UseMap map,
                 std::vector<Value> args);

/// Arguments go into the trace as they would be written: numbers as numbers, expressions as text in
/// the scope of the place.
Value trace_value(const ExprPtr& e, const Proc& p, const Cursor& at);

/// A new size and a place in it may stand at the allocation: control expressions of visible names
/// that nothing changes meanwhile, the size proved positive. An extent that reads configuration or
/// a loop variable that changes would be another number there than at the uses.
void require_size(const char* op, const Proc& p, const Site& s, const ExprPtr& size,
                  const ExprPtr& place);

}  // namespace exotune::internal
