// Plans of steps along rows (a softmax): what each row goes through, and in how many vectors.
#include <algorithm>

#include "search/dp/composition.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

// Lines of memory of the operand over all of its nest.
int64_t lines_of(const LiftedNest& nest, size_t operand, const DpMachine& machine) {
  std::vector<uint32_t> extents(nest.extents.begin(), nest.extents.end());
  const OperandKind& kind = nest.kind.operands[operand];
  const int64_t bytes = operand_shape(kind, extents.data()).volume() * bytes_of(kind.type);
  return (bytes + machine.line_bytes - 1) / machine.line_bytes;
}

// The loop along the row; nothing for a step with more or fewer loops.
std::optional<std::string> along(const ChainPart& part) {
  if (part.nest.loops.size() != 2) return std::nullopt;
  return part.nest.loops[part.rows == 0 ? 1 : 0].name();
}

bool takes_an_extreme(const ChainPart& part) {
  return part.nest.kind.statement.rfind("max=", 0) == 0 ||
         part.nest.kind.statement.rfind("min=", 0) == 0;
}

// Lines that the steps move: all of them, and without those between the steps.
struct LinesOfChain {
  int64_t whole = 0, fused = 0;
};

LinesOfChain lines_of_chain(const Composition& chain, const DpMachine& machine) {
  LinesOfChain out;
  for (size_t k = 0; k < chain.parts.size(); ++k) {
    const LiftedNest& nest = chain.parts[k].nest;
    for (size_t i = 0; i < nest.buffers.size(); ++i) {
      const int64_t lines = lines_of(nest, i, machine);
      out.whole += lines;
      const auto& between = chain.intermediates;
      if (std::find(between.begin(), between.end(), nest.buffers[i]) == between.end())
        out.fused += lines;
    }
  }
  return out;
}

// The loop along the row of each step; empty when a step has none, or other rows.
std::vector<std::string> loops_along(const Composition& chain, const std::string& rows) {
  std::vector<std::string> loops;
  for (const ChainPart& part : chain.parts) {
    const std::optional<std::string> loop = along(part);
    if (!loop || part.nest.loops[static_cast<size_t>(part.rows)].name() != rows || *loop == rows)
      return {};
    loops.push_back(*loop);
  }
  return loops;
}

// Every step but the last is computed where its row is used.
Steps fusing_steps(const Composition& chain, const std::string& rows) {
  Steps out;
  for (size_t k = chain.parts.size() - 1; k-- > 0;)
    out.push_back(
        {"compute_and_store_at",
         {chain.intermediates[k].name(), chain.parts.back().nest.buffers.back().name(), rows}});
  return out;
}

struct VectorSteps {
  Steps extremes;                   // of the steps that take a maximum or minimum
  std::vector<std::string> others;  // the loops of the rest, each once
};

// Lanes of a maximum go into the element one vector at a time; the loop has another name then.
VectorSteps vector_steps(const Composition& chain, const std::vector<std::string>& loops,
                         const VectorValues& unit) {
  VectorSteps out;
  auto& [vectors, left] = out;
  for (size_t k = 0; k < chain.parts.size(); ++k) {
    if (!takes_an_extreme(chain.parts[k])) {
      left.push_back(loops[k]);
      continue;
    }
    const auto before = std::count(left.begin(), left.end(), loops[k]);
    vectors.push_back(unit.step("vectorize", {loops[k] + " #" + std::to_string(before)}));
    vectors.back().named = {{"tail", "cut_and_predicate"}};
  }
  std::sort(left.begin(), left.end());
  left.erase(std::unique(left.begin(), left.end()), left.end());
  return out;
}

}  // namespace

std::vector<ChainPlan> row_plans(const Composition& chain, const Target& target,
                                 const ValueList& instructions, const DpMachine& machine) {
  const ChainPart& last = chain.parts.back();
  const std::string rows = last.nest.loops[static_cast<size_t>(last.rows)].name();
  const std::vector<std::string> loops = loops_along(chain, rows);
  if (loops.empty()) return {};
  const VectorValues unit(target, last.nest.kind.operands.back().type, instructions);

  const Steps fusing = fusing_steps(chain, rows);
  const auto [vectors, left] = vector_steps(chain, loops, unit);

  const LinesOfChain lines = lines_of_chain(chain, machine);
  const int64_t line = machine.levels[static_cast<size_t>(machine.outermost())].cost;
  const std::string level = machine.levels[static_cast<size_t>(machine.outermost())].name;

  std::vector<ChainPlan> out;
  for (const bool fuses : {true, false})
    // Vectors at once in each loop; all cost the same here (lines), so the usual one stands first.
    for (const int many : {4, 2, 8, 1}) {
      ChainPlan plan;
      plan.tile = fuses ? 1 : 0;
      plan.level = level;
      plan.units = (fuses ? lines.fused : lines.whole) * line;
      if (fuses) plan.steps = fusing;
      plan.steps.insert(plan.steps.end(), vectors.begin(), vectors.end());
      for (const std::string& loop : left)
        plan.steps.push_back(unit.step("optimize_level_1", {loop}, {many}));
      out.push_back(std::move(plan));
    }
  return out;
}

}  // namespace exotune
