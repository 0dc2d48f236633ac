#include "search/bounds.h"

#include <algorithm>

#include "cost/features.h"
#include "cost/work.h"

namespace exotune {

namespace {

constexpr double kShown = 10;  // percent
constexpr const char* kCompiledLoops = "loops left to the compiler";

// Terms that are cycles of a part of the machine by themselves.
struct Resource {
  Term term;
  const char* name;
};
constexpr Resource kResources[] = {
    {Term::kArithmetic, "arithmetic"},
    {Term::kLoad, "loads"},
    {Term::kStore, "stores"},
    {Term::kOther, "shuffles and moves"},
    {Term::kCompiled, kCompiledLoops},
    {Term::kLatency, "waiting for its own results"},
    {Term::kChain, "waiting for scalar sums"},
    {Term::kSpill, "registers that spill"},
    {Term::kLines1, "lines from L2"},
    {Term::kLines2, "lines from L3"},
    {Term::kLines3, "lines from memory"},
};

// Cycles for one of a term: ports and chains are counted in cycles, whatever weight a fit gave them
// beside terms that go with them.
double cycles_of(Term t, const CostWeights& weights) { return is_memory(t) ? weights[t] : 1; }

}  // namespace

bool ResourceShare::is_of_machine() const { return name != kCompiledLoops; }

Traffic traffic_of(const Proc& p, const KernelEntry& kernel, const SizeBinding& sizes) {
  const Work work = work_of(p);
  if (!work.bytes.text().empty())
    return {work.read.evaluate(sizes), work.written.evaluate(sizes), work.updated.evaluate(sizes)};
  return {kernel.bytes.text().empty() ? 0 : kernel.bytes.evaluate(sizes), 0, 0};
}

std::vector<ResourceShare> resource_shares(const Proc& scheduled, const SizeBinding& sizes,
                                           const CostWeights& weights, double cycles) {
  std::vector<ResourceShare> out;
  if (cycles <= 0) return out;
  const Features features = features_of(scheduled, sizes, weights.machine);
  for (const Resource& r : kResources)
    if (const double share = 100 * features[r.term] * cycles_of(r.term, weights) / cycles;
        share >= kShown)
      out.push_back({r.name, share});
  // Several operations at once: what the core does a cycle is a fact of its own.
  const double scalar = 100 * features[Term::kScalar] / weights.machine.core.scalar_width / cycles;
  if (scalar >= kShown) out.push_back({"statements outside vectors", scalar});
  std::stable_sort(out.begin(), out.end(), [](const ResourceShare& a, const ResourceShare& b) {
    return a.percent > b.percent;
  });
  return out;
}

}  // namespace exotune
