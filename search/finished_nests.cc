#include "search/finished_nests.h"

#include <algorithm>
#include <map>
#include <string>

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

// The operator that makes vectors and its loops: of finishes that have both in common only numbers
// of vectors and rows differ. "": the finish is something else.
std::string vectors_of(const Finish& finish) {
  if (finish.steps.empty()) return "";
  const ScheduleStep& step = finish.steps.front();
  if (step.op != "optimize_level_1" && step.op != "optimize_level_2") return "";
  std::string out = step.op;
  for (const Value& a : step.args)
    if (const auto* loop = a.as<std::string>()) out += ' ' + *loop;
  return out;
}

// Which elements and iterations show it is told behind it.
std::string reason_alone(const StepRefusal& refusal) {
  return refusal.reason.substr(0, refusal.reason.find('\n'));
}

// Did nothing come of either, for one reason?
bool refused_alike(const FinishedNest& a, const FinishedNest& b) {
  return !a.plan && !b.plan && !a.refusals.empty() && !b.refusals.empty() &&
         reason_alone(a.refusals.back()) == reason_alone(b.refusals.back());
}

}  // namespace

// Vectors along a loop twice at first: where both are refused for one reason, so would the others
// be, and each takes as long as the first.
std::vector<FinishedNest> finish_all(const Schedule& nest, const std::vector<Finish>& finishes,
                                     const PartPricing& pricing, const Deadline& deadline) {
  std::vector<FinishedNest> done(finishes.size());
  const auto finish_some = [&](const std::vector<size_t>& some) {
    in_parallel(some.size(), [&](size_t n) {
      if (deadline.over()) return;
      const Deadline mine =
          deadline.within(std::max(kFinishAnyway, kShareOfFinish * deadline.left()));
      const size_t k = some[n];
      (void)done_within(mine, [&] { done[k] = finished(nest, finishes[k], pricing); });
    });
  };
  std::map<std::string, std::vector<size_t>> alike;
  std::vector<size_t> first, later;
  for (size_t k = 0; k < finishes.size(); ++k) {
    const std::string vectors = vectors_of(finishes[k]);
    const bool waits = !vectors.empty() && alike[vectors].size() >= 2;
    if (!vectors.empty()) alike[vectors].push_back(k);
    (waits ? later : first).push_back(k);
  }
  finish_some(first);
  std::erase_if(later, [&](size_t k) {
    const std::vector<size_t>& same = alike[vectors_of(finishes[k])];
    return refused_alike(done[same[0]], done[same[1]]);
  });
  finish_some(later);
  return done;
}

}  // namespace exotune
