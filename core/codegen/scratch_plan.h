#pragma once
// Which allocations live in scratch memory instead of on the stack.
#include <map>
#include <set>

#include "core/ir/proc.h"

namespace exotune::codegen {

struct ScratchPlan {
  std::set<Sym> allocations;  // of this proc: larger than the stack takes, or of dynamic size
  bool needed = false;        // by this proc or a callee
};

/// Plans of procs, each made once. An array goes on the stack when its size is constant and at most
/// `stack_limit_bytes`, until a function's arrays together reach four times that.
class ScratchTable {
 public:
  explicit ScratchTable(int64_t stack_limit_bytes) : stack_limit_bytes_(stack_limit_bytes) {}
  /// Made at the first question and kept; the reference stays valid. A callee that needs scratch
  /// memory makes its callers need it, since the arena is passed along.
  const ScratchPlan& of(const ProcPtr& p);
  ScratchPlan compute(const Proc& p);

 private:
  int64_t stack_limit_bytes_;
  std::map<ProcPtr, ScratchPlan> table_;
};

/// The product of constant extents; nothing when one is not constant.
std::optional<int64_t> constant_product(const std::vector<ExprPtr>& shape);

}  // namespace exotune::codegen
