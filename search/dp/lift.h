#pragma once
// lift: reads a Spec off a perfect affine nest around one statement, in any proc; the body of every
// @instr is one, so instructions are the leaves of the search without further code. Start at
// lift_nest.
#include <optional>
#include <string>

#include "core/ir/proc.h"
#include "search/dp/spec.h"

namespace exotune {

/// An extent that is not a literal.
struct SymbolicExtent {
  Sym size;              // the size argument that bounds the loop
  int64_t multiple = 1;  // of the asserts `size % multiple == 0`
};

struct LiftedNest {
  SpecKind kind;
  std::vector<int64_t> extents;  // of each loop; 0: symbolic
  std::vector<std::optional<SymbolicExtent>> symbolic;
  std::vector<Sym> loops;    // the iterators, outermost first
  std::vector<Sym> buffers;  // of each operand
};

/// Nothing when the proc's body is not a perfect nest of loops from 0 around one assignment or
/// reduction (before it, operands may be converted to its type: `t : f32; t = a[i]`) whose
/// subscripts are sums of iterators with positive coefficients, or when it is larger than a Spec
/// can be. Functions of operands (exp, fabs, ...) are read only where `functions` says so: the
/// search has no leaves for them.
std::optional<LiftedNest> lift_nest(const Proc& p, bool functions = false);

}  // namespace exotune
