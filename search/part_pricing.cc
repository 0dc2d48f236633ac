#include "search/part_pricing.h"

#include <algorithm>
#include <map>

#include "core/base/hashing.h"
#include "core/cursor/provenance.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

// The value of an affine expression over names that are known.
std::optional<int64_t> known_value(const ExprPtr& e, const SizeBinding& known) {
  const std::optional<Affine> a = affine(e);
  if (!a) return std::nullopt;
  int64_t out = a->constant;
  for (const Affine::Term& t : a->terms) {
    const Read* r = t.atom->as<Read>();
    const auto value = r ? known.find(r->name.name()) : known.end();
    if (value == known.end()) return std::nullopt;
    out += t.coeff * value->second;
  }
  return out;
}

// A triangular nest costs about what it costs halfway through the loops around it: `iter` in the
// middle of what the asserts say of it, given those before it.
int64_t middle_of(const Proc& p, Sym iter, const SizeBinding& known) {
  int64_t lo = 0;
  std::optional<int64_t> end;
  const auto is_iter = [&](const ExprPtr& e) {
    const Read* r = e->as<Read>();
    return r && r->name == iter;
  };
  for (const ExprPtr& e : p.asserts) {
    const BinOp* o = e->as<BinOp>();
    if (!o) continue;
    if (o->op == BinOpKind::kLe && is_iter(o->rhs)) {
      if (const auto value = known_value(o->lhs, known)) lo = std::max(lo, *value);
    } else if (o->op == BinOpKind::kLt && is_iter(o->lhs)) {
      if (const auto value = known_value(o->rhs, known))
        end = std::min(end.value_or(*value), *value);
    }
  }
  return end ? std::max<int64_t>(1, (lo + *end) / 2) : std::max<int64_t>(lo, 32);
}

}  // namespace

ProcPtr with_names_apart(const ProcPtr& p) {
  auto out = std::make_shared<Proc>(*p);
  std::map<std::string, int> seen;
  bool any = false;
  for (size_t k = 0; k < out->args.size(); ++k) {
    const Sym old = out->args[k].name;
    const int before = seen[old.name()]++;
    if (before == 0) continue;
    any = true;
    const Sym apart = Sym::fresh(old.name() + "_" + std::to_string(before));
    for (Arg& a : out->args) {
      if (a.name == old) a.name = apart;
      for (ExprPtr& e : a.type.shape) e = rename(e, old, apart);
    }
    for (ExprPtr& e : out->asserts) e = rename(e, old, apart);
    out->body = rename(out->body, old, apart);
  }
  return any && str(*out) == str(*p) ? out : p;
}

PartPlan PartPricing::plan_of(const Schedule& s, const std::string& move) const {
  PartPlan plan;
  plan.steps = s.steps;
  plan.proc = s.proc;
  const StaticCost cost = static_cost(*s.proc, sizes_of(*s.proc), context_.weights);
  plan.cycles = cost.cycles;
  plan.features = cost.features;
  plan.text_hash = content_hash(canonical_text(*s.proc));
  plan.reassociated = s.reassociated || reassociates(s.proc);
  plan.move = move;
  plan.order = plan.cycles;
  return plan;
}

SizeBinding PartPricing::sizes_of(const Proc& p) const {
  SizeBinding sizes = context_.sizes;
  for (const Arg& a : p.args)
    if (!is_data(a.type.scalar)) sizes.emplace(a.name.name(), middle_of(p, a.name, sizes));
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
