#include "search/device/device_search.h"

#include <algorithm>

#include "core/cursor/provenance.h"
#include "search/device/plan_space.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

bool reads_scalar(const ExprPtr& e, Sym name) {
  const Read* r = e->as<Read>();
  if (r && r->name == name && r->idx.empty()) return true;
  const std::vector<ExprPtr> inside = expr_children(*e);
  return std::any_of(inside.begin(), inside.end(),
                     [&](const ExprPtr& c) { return reads_scalar(c, name); });
}

// Arguments that are one value for the whole kernel go where the device's instructions read such
// values, as far as types tell: each field takes the first argument of its type that is left.
void bind_values(Schedule& s, const DeviceInstructions& instructions) {
  std::vector<Sym> bound;
  for (const DeviceInstructions::Field& field : instructions.values)
    for (const Arg& a : s.proc->args) {
      const bool fits = a.type.shape.empty() && a.type.scalar == field.type;
      if (!fits || std::find(bound.begin(), bound.end(), a.name) != bound.end()) continue;
      bool read = false;
      for_each_expr(s.proc->body,
                    [&](const ExprPtr& e) { read = read || reads_scalar(e, a.name); });
      if (!read ||
          apply(s, "bind_config", {Value(a.name.name()), Value(field.config), Value(field.name)}))
        continue;
      bound.push_back(a.name);
      break;
    }
  if (!bound.empty()) (void)!apply(s, "hoist_config", {});
}

void fix_sizes(Schedule& s, const SizeBinding& sizes) {
  const std::string line = fixing_line(*s.proc, sizes);
  if (!line.empty()) (void)!apply_lines(s, {line}, {});
}

}  // namespace

DeviceSearch device_schedules(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target,
                              size_t most, const std::function<bool()>& interrupted) {
  DeviceSearch out;
  const DeviceInstructions instructions = read_instructions(target);
  if (instructions.products.empty()) return out;
  Schedule start{kernel, {}, false};
  bind_values(start, instructions);
  fix_sizes(start, sizes);
  const std::vector<KernelSum> sums = sums_of(start.proc);
  std::vector<RankedPlan> plans;
  for (const KernelSum& sum : sums)
    for (const ProductInstruction& product : instructions.products)
      for (RankedPlan& p : plans_of(sum, product, instructions, target, 4 * most))
        plans.push_back(std::move(p));
  out.plans = plans.size();
  for (const RankedPlan& p : plans) {
    if (out.schedules.size() >= most || (interrupted && interrupted())) break;
    BuiltPlan built = build_plan(start, p.plan, instructions);
    if (built.schedule)
      out.schedules.push_back({std::move(*built.schedule), p.plan.text(), p.estimate});
    else
      out.refusals.push_back(built.refusal);
  }
  return out;
}

}  // namespace exotune
