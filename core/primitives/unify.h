#pragma once
// Does a block of statements mean the same as a call of a proc? The matcher behind `replace`.
//
// The callee's body is the pattern: its iterators and local buffers match by position, its control
// formals are unknowns of affine equations, its data formals become windows of the buffers that the
// block uses in their place. `+` and `*` on data match in either order. What a match means beyond
// equal bodies (asserts, sizes, bounds, aliasing) is call_problem's business (calls.h).
#include <optional>
#include <vector>

#include "core/ir/path.h"

namespace exotune::internal {

/// The shape of a statement: equal for statements that could unify, whatever their names and
/// indices. Cached per thread by structural hash, so a failing attempt costs a table look-up.
uint64_t shape_hash(const StmtPtr& s);
/// The same of an expression, computed.
uint64_t expr_shape(const ExprPtr& e);

struct Unification {
  std::optional<std::vector<ExprPtr>> args;  // of the call, in order; nothing when it does not fit
  const char* why = "";                      // then: what did not
};
/// The arguments that make `callee` equal to the callee-body-many statements at `first`.
Unification unify(const Proc& p, const Path& first, const Proc& callee);

}  // namespace exotune::internal
