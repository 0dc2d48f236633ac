#include "search/dp/machine.h"

#include <algorithm>
#include <cmath>

#include "core/base/hashing.h"
#include "search/dp/machine_text.h"
#include "search/dp/register_block.h"

namespace exotune {
// The machine as the dynamic program sees it: levels with costs, and kernels that end a plan.
// Either the target says both in [search] (accelerators, and the paper's machine in tests), or they
// are derived from what the model of the machine knows: registers and instructions of the target,
// caches of the probe, costs of the micro-architecture.

int DpMachine::level(const std::string& wanted) const {
  for (size_t i = 0; i < levels.size(); ++i)
    if (levels[i].name == wanted) return static_cast<int>(i);
  return -1;
}

std::vector<std::string> DpMachine::level_names() const {
  std::vector<std::string> out;
  for (const DpLevel& l : levels) out.push_back(l.name);
  return out;
}

namespace {

// --- without a [search] table -----------------------------------------------------------------

// A sixteenth of a cycle: what costs are told apart by, not what anything costs.
constexpr int kDerivedUnits = 16;

// Costs are integers, so that sums do not depend on their order and plans compare exactly.
int64_t units(double cycles) { return std::llround(cycles * kDerivedUnits); }

// A level for each kind of registers and each cache, outermost last. What a level costs is what
// moving a line across it takes, not its size: a large and slow cache is nothing to block for.
void derive_levels(const Target& target, const TargetFigures& figures, DpMachine& m) {
  size_t known = 0;  // of figures.lines
  m.units_per_cycle = kDerivedUnits;
  if (target.vector_memory) {
    DpLevel registers;
    registers.name = target.vector_memory->name;
    registers.registers = true;
    registers.capacity = std::min(127, std::max(1, target.vector_memory->count));
    registers.vectors = {static_cast<int>(target.vector_bits / 8)};
    m.levels.push_back(registers);
  }
  for (const TargetLevel& l : figures.levels.empty() ? target.levels : figures.levels) {
    const bool in_memory = l.is_cache() || l.memory->kind == MemoryKind::kHeap;
    if (!in_memory || m.levels.size() == kMaxLevels) continue;
    DpLevel level;
    level.name = l.name;
    level.cache = l.is_cache();
    const int line = l.line_bytes > 0 ? l.line_bytes : 64;
    m.line_bytes = line;
    level.capacity = l.bytes > 0 ? l.bytes / line : int64_t{1} << 30;
    level.cost = units(known < figures.lines.size() ? figures.lines[known] : l.cost_per_line);
    known += l.bytes > 0 || !l.is_cache();
    m.levels.push_back(level);
  }
  for (int i = 0; i < static_cast<int>(m.levels.size()); ++i) {
    if (!m.levels[i].registers) m.levels[i].destinations.push_back(i);
    if (i > 0) m.levels[i].destinations.push_back(i - 1);
  }
}

// The level that holds data of this memory for an instruction: its registers, or the nearest cache.
uint32_t levels_of(const MemoryPtr& memory, const Target& target, const DpMachine& m) {
  const bool vector = target.vector_memory && memory && memory->name == target.vector_memory->name;
  for (size_t i = 0; i < m.levels.size(); ++i)
    if (m.levels[i].registers == vector && (vector || !memory || memory->kind == MemoryKind::kHeap))
      return 1u << i;
  return 0;
}

// All instructions whose body is a Spec become kernels; their cost is the reciprocal throughput
// that the target's text states, their levels follow from the memories of their arguments.
void derive_kernels(const Target& target, const TargetFigures& figures, DpMachine& m) {
  for (const ProcPtr& instruction : target.instructions()) {
    std::optional<DpKernel> kernel = kernel_of(instruction);
    if (!kernel) continue;
    const LiftedNest nest = *lift_nest(*instruction);
    bool known = true;
    for (const Sym buffer : nest.buffers) {
      const uint32_t levels = levels_of(instruction->find_arg(buffer)->mem, target, m);
      known = known && levels != 0;
      kernel->levels.push_back(levels);
    }
    for (const int64_t extent : nest.extents) known = known && extent > 0;
    if (!known) continue;
    const auto figure = figures.instructions.find(instruction->name);
    kernel->base = figure == figures.instructions.end()
                       ? units(instruction->instr->cost)
                       : std::max<int64_t>(1, units(figure->second.throughput));
    if (figure != figures.instructions.end()) kernel->latency = units(figure->second.latency);
    kernel->registers.assign(m.levels.size(), 0);
    kernel->max_vectors = 1;
    m.kernels.push_back(std::move(*kernel));
  }
}

// A kernel of last resort: without it, an extent that no vector divides would have no plan at all.
// One statement in C on data in the nearest cache: what vectors leave over.
void derive_statement(const Target& target, DpMachine& m) {
  DpKernel kernel;
  m.predicated = target.predication;
  kernel.copies_only = m.predicated;
  kernel.name = "statement";
  kernel.per_element = units(1);
  for (size_t i = 0; i < m.levels.size() && kernel.levels.empty(); ++i)
    if (!m.levels[i].registers) kernel.levels = {1u << i};
  kernel.registers.assign(m.levels.size(), 0);
  if (!kernel.levels.empty()) m.kernels.push_back(std::move(kernel));
}

// --- threads ----------------------------------------------------------------------------------

// Threads share the outer levels, and their lines cost more when several ask at once. Starting them
// costs a fixed time, so small nests stay with one.
void describe_threads(const Target& target, const CoreFacts& core, int threads, DpMachine& m) {
  const auto parameter = [&](const char* name, double otherwise) {
    const auto known = target.parameters.find(name);
    return known == target.parameters.end() ? otherwise : known->second;
  };
  m.threads = threads;
  m.thread_start = std::llround(parameter("thread_start", core.thread_start) * m.units_per_cycle);
  m.thread_trip = std::llround(parameter("thread_trip", 0) * m.units_per_cycle);
  // Memory, and the cache next to it where cores have nearer ones of their own.
  int memories = 0;
  for (DpLevel& level : m.levels) {
    level.cost_beside = level.cost;
    memories += !level.registers && level.vectors.empty();
  }
  const int outermost = m.outermost();
  m.levels[outermost].shared = true;
  if (memories >= 3 && m.levels[outermost - 1].cache) m.levels[outermost - 1].shared = true;
  const double crowd = threads / std::max(1.0, parameter("thread_memory", core.thread_memory));
  if (crowd > 1)
    m.levels[outermost].cost_beside =
        std::llround(static_cast<double>(m.levels[outermost].cost) * crowd);
}

}  // namespace

DpMachine machine_of(const Target& target, const TargetFigures& figures, int threads) {
  DpMachine m;
  m.name = target.name;
  m.hash = target.hash;
  if (target.search) {
    read_machine(*target.search, target, m);
  } else {
    m.apart_cost_quarters = static_cast<int>(std::lround(4 * figures.core.apart_cost));
    m.apart_footprint = static_cast<int>(std::lround(figures.core.apart_lines));
    m.fine_limits = true;
    if (const std::string more = figures.identity(); !more.empty())
      m.hash = content_hash(m.hash + "\n" + more);
    derive_levels(target, figures, m);
    derive_kernels(target, figures, m);
    derive_statement(target, m);
    const auto text = target.latency.find("fma");
    const double latency = figures.core.fma_latency > 0   ? figures.core.fma_latency
                           : text == target.latency.end() ? 0
                                                          : text->second;
    for (DpKernel& block : register_blocks(m, latency, figures.core.port_crowding))
      m.kernels.push_back(std::move(block));
  }
  describe_threads(target, figures.core, threads, m);
  // Strips are as wide as a vector, or where the machine is derived as a block of registers.
  const int widest = target.search ? 1 : 4;
  for (const DpLevel& level : m.levels)
    for (const int width : level.vectors)
      for (int vectors = 1; vectors <= widest; ++vectors) m.strip_bytes.push_back(vectors * width);
  return m;
}

}  // namespace exotune
