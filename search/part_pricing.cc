#include "search/part_pricing.h"

#include <algorithm>

#include "core/base/hashing.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

// A triangular nest costs about what it costs halfway through the loop around it.
int64_t middle_of(const Proc& p, Sym iter) {
  for (const ExprPtr& e : p.asserts) {
    const BinOp* o = e->as<BinOp>();
    if (!o || o->op != BinOpKind::kLt) continue;
    const Read* r = o->lhs->as<Read>();
    const std::optional<int64_t> end = as_int(o->rhs);
    if (r && r->name == iter && end) return std::max<int64_t>(1, *end / 2);
  }
  return 32;
}

}  // namespace

PartPlan PartPricing::plan_of(const Schedule& s, const std::string& move) const {
  PartPlan plan;
  plan.steps = s.steps;
  plan.cycles = static_cost(*s.proc, sizes_of(*s.proc), context_.weights).cycles;
  plan.text_hash = content_hash(canonical_text(*s.proc));
  plan.reassociated = s.reassociated || reassociates(s.proc);
  plan.move = move;
  plan.order = plan.cycles;
  return plan;
}

SizeBinding PartPricing::sizes_of(const Proc& p) const {
  SizeBinding sizes = context_.sizes;
  for (const Arg& a : p.args)
    if (!is_data(a.type.scalar)) sizes.emplace(a.name.name(), middle_of(p, a.name));
  return sizes;
}

double PartPricing::entries_of(const Proc& p, const Cursor& nest) const {
  const Outline o = outline_of(p, sizes_of(p));
  const int loop = o.loop_at(nest.path());
  double out = 1;
  for (int k = loop < 0 ? -1 : o.loops[static_cast<size_t>(loop)].parent; k >= 0;
       k = o.loops[static_cast<size_t>(k)].parent)
    out *= std::max(1.0, o.loops[static_cast<size_t>(k)].trips);
  return out;
}

}  // namespace exotune
