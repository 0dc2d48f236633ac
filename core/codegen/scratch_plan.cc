#include "core/codegen/scratch_plan.h"

#include "core/ir/normal_form.h"

namespace exotune::codegen {

std::optional<int64_t> constant_product(const std::vector<ExprPtr>& shape) {
  int64_t n = 1;
  for (const ExprPtr& e : shape) {
    const auto a = affine(e);
    if (!a || !a->is_constant() || __builtin_mul_overflow(n, a->constant, &n)) return std::nullopt;
  }
  return n;
}

const ScratchPlan& ScratchTable::of(const ProcPtr& p) {
  const auto it = table_.find(p);
  if (it != table_.end()) return it->second;
  return table_.emplace(p, compute(*p)).first->second;
}

ScratchPlan ScratchTable::compute(const Proc& p) {
  ScratchPlan plan;
  int64_t on_stack = 0;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const auto* c = s->as<Call>(); c && !c->callee->instr) plan.needed |= of(c->callee).needed;
    const auto* a = s->as<Alloc>();
    if (!a || a->type.shape.empty()) return;
    const Memory& m = a->mem ? *a->mem : *dram();
    if (m.kind == MemoryKind::kVector || m.kind == MemoryKind::kRegisterFile ||
        m.kind == MemoryKind::kScratchpad || m.kind == MemoryKind::kStatic ||
        m.templates.contains("alloc"))
      return;
    const auto n = constant_product(a->type.shape);
    const int64_t bytes = n ? *n * bytes_of(a->type.scalar) : 0;
    const bool fits =
        n && bytes <= stack_limit_bytes_ && on_stack + bytes <= 4 * stack_limit_bytes_;
    if (m.kind == MemoryKind::kStack || fits) {
      on_stack += bytes;
    } else {
      plan.allocations.insert(a->name);
      plan.needed = true;
    }
  });
  return plan;
}

}  // namespace exotune::codegen
