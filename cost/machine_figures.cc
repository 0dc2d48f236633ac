#include "cost/machine_figures.h"

#include <algorithm>

namespace exotune {

CostMachine cost_machine(const Target& target, const std::vector<TargetLevel>& levels,
                         const TargetFigures& figures) {
  CostMachine m;
  m.instructions = figures.instructions;
  m.core = figures.core;
  const auto latency = [&](const char* name, double said, double otherwise) {
    const auto it = target.latency.find(name);
    return said > 0 ? said : it == target.latency.end() ? otherwise : it->second;
  };
  m.latency = latency("fma", m.core.fma_latency, m.latency);
  m.load_latency = latency("load", m.core.load_latency, m.load_latency);
  if (target.vector_bits > 0) m.vector_bytes = target.vector_bits / 8;
  for (size_t k = 0; k < levels.size(); ++k) {
    const TargetLevel& l = levels[k];
    if (!l.is_cache() || l.bytes <= 0) continue;
    double from = k + 1 < levels.size() ? levels[k + 1].cost_per_line : l.cost_per_line;
    if (const size_t next = m.caches.size() + 1; next < figures.lines.size())
      from = figures.lines[next];
    m.caches.push_back({l.bytes, std::max(1, l.line_bytes), from});
  }
  return m;
}

}  // namespace exotune
