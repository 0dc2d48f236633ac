#include "search/finished_nests.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace exotune {

namespace {

// Of the time that is left, for one finish, and seconds that each may have: most take hundredths of
// one, and the few that bind a thousand operands must not take the others' time.
constexpr double kShareOfFinish = 0.1, kFinishAnyway = 1;

FinishedNest finished(const Schedule& nest, const Finish& finish, const PartPricing& pricing) {
  FinishedNest out;
  Schedule s = nest;
  for (const ScheduleStep& step : finish.steps) {
    auto refusal = apply(s, step);
    if (!refusal) continue;
    out.refusals.push_back(std::move(*refusal));
    // The steps behind it are meant for what it would have made: of the loops as they are, a tile
    // may be thousands of statements.
    if (finish.together) return out;
  }
  // A finish without steps is the nest left as it is, and counts as one of them.
  if (s.steps.size() > nest.steps.size() || finish.steps.empty())
    out.plan = pricing.plan_of(s, finish.name);
  if (out.plan) out.plan->for_caches = finish.for_caches;
  return out;
}

}  // namespace

std::vector<FinishedNest> finish_all(const Schedule& nest, const std::vector<Finish>& finishes,
                                     const PartPricing& pricing, const Deadline& deadline) {
  std::vector<FinishedNest> done(finishes.size());
  in_parallel(finishes.size(), [&](size_t k) {
    if (deadline.over()) return;
    const Deadline mine =
        deadline.within(std::max(kFinishAnyway, kShareOfFinish * deadline.left()));
    (void)done_within(mine, [&] { done[k] = finished(nest, finishes[k], pricing); });
  });
  return done;
}

}  // namespace exotune
