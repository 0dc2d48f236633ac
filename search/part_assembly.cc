#include "search/part_assembly.h"

#include "core/analysis/queries.h"
#include "core/base/diagnostic.h"

namespace exotune {

namespace {

std::optional<StepRefusal> refusal_of_check(const Proc& p) {
  try {
    check(p);
    return std::nullopt;
  } catch (const Error& e) {
    return StepRefusal{"check", p.name, e.diagnostic().message.str()};
  }
}

}  // namespace

// The steps name loops of the part as it stands alone.
std::optional<StepRefusal> PartAssembly::schedule_part(Schedule& s, const Cursor& nest,
                                                       const std::string& name,
                                                       const PartPlan& plan) {
  Part part;
  if (auto refusal = take_out(s, nest, name, part)) return refusal;
  Schedule inside{part.proc, {}, false};
  if (auto refusal = replay(inside, plan.steps)) return refusal;
  // One part that has no code must not take the whole with it.
  const auto [known, is_new] = unsound_.emplace(plan.text_hash, std::nullopt);
  if (is_new) known->second = refusal_of_check(*inside.proc);
  if (known->second) return known->second;
  return put_back(s, part, inside);
}

void PartAssembly::schedule_as(Schedule& whole, const PartPlans& s, size_t part, size_t plan) {
  const PartPlan& chosen = s.choices[part][plan];
  if (chosen.steps.empty()) return;
  Schedule with = whole;
  if (const auto refusal = schedule_part(with, s.nests[part], s.names[part], chosen))
    refused_(*refusal);
  else
    whole = std::move(with);
}

PartPlan PartAssembly::combine(const PartPlans& s, const std::vector<size_t>& which) {
  Schedule whole = s.schedule;
  for (size_t n = 0; n < s.nests.size(); ++n) schedule_as(whole, s, n, which[n]);
  return pricing_.plan_of(whole, s.move);
}

}  // namespace exotune
