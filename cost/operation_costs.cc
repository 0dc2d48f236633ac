#include "cost/operation_costs.h"

#include <algorithm>
#include <optional>

#include "cost/instruction_class.h"

namespace exotune {

namespace {

// The one kind of operation in an instruction's body, and on how many elements.
std::optional<std::pair<std::string, double>> only_operation(const Proc& instruction) {
  const Work work = work_of(instruction);
  if (work.kinds.size() != 1) return std::nullopt;
  const auto& [kind, count] = *work.kinds.begin();
  if (!count.names().empty()) return std::nullopt;  // of some of its lanes
  return std::pair(kind, count.evaluate({}));
}

}  // namespace

std::map<std::string, double> operation_costs(const Target& target, ScalarType type,
                                              const InstructionFigures& figures) {
  std::map<std::string, double> out;
  const int lanes = target.lanes_of(type);
  for (const ProcPtr& p : target.instructions()) {
    const InstructionClass c = classify(*p, figures);
    if (c.ports.arithmetic <= 0 || c.ports.load > 0 || c.writes_memory || c.partial) continue;
    if (c.written < 0 || p->args[static_cast<size_t>(c.written)].type.scalar != type) continue;
    const auto operation = only_operation(*p);
    if (!operation || operation->second < lanes) continue;
    const double cost = c.ports.arithmetic / operation->second;
    const auto [known, fresh] = out.emplace(operation->first, cost);
    if (!fresh) known->second = std::min(known->second, cost);
  }
  return out;
}

double operation_cycles(const Work& work, const std::map<std::string, int64_t>& sizes,
                        const std::map<std::string, double>& costs) {
  if (!costs.count("fma")) return 0;
  double cheapest = costs.at("fma"), cycles = 0;
  for (const auto& [kind, cost] : costs) cheapest = std::min(cheapest, cost);
  for (const auto& [kind, count] : work.kinds) {
    const auto known = costs.find(kind);
    cycles += count.evaluate(sizes) * (known == costs.end() ? cheapest : known->second);
  }
  return cycles;
}

}  // namespace exotune
