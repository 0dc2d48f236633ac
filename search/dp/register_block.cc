#include "search/dp/register_block.h"

#include <algorithm>
#include <cmath>

namespace exotune {
// A whole tile of sums in registers is one kernel to the program: solved step by step it would have
// to find the tile, the order of its loads and what they hide behind again and again, each a Spec
// of its own. What the tile costs is reckoned from one step of the sum.

namespace {

bool follows(const Subscript& s, int loop) {
  return std::any_of(s.begin(), s.end(), [&](const SubscriptTerm& t) { return t.dim == loop; });
}

bool follows(const OperandKind& operand, int loop) {
  return std::any_of(operand.subscripts.begin(), operand.subscripts.end(),
                     [&](const Subscript& s) { return follows(s, loop); });
}

// Whole vectors, one after the other, of the last dimension; taps move them by elements.
bool holds_vectors(const SpecKind& kind, const OperandKind& operand, int loop,
                   const TensorLayout& layout, int64_t lanes, uint32_t extent) {
  const int last = static_cast<int>(operand.subscripts.size()) - 1;
  for (int d = 0; d < last; ++d)
    if (follows(operand.subscripts[d], loop)) return false;
  const Subscript& s = operand.subscripts[last];
  for (const SubscriptTerm& t : s)
    if (t.dim == loop ? t.coefficient != 1 : !kind.reduction[t.dim]) return false;
  if (!follows(s, loop)) return false;
  if (layout.any) return true;
  if (layout.rank == 0 || layout.contiguous == 0) return false;
  const PhysicalDim& inner = layout.dims[layout.rank - 1];
  // Strips hold whole blocks: the vectors of one step lie side by side.
  return inner.dim == last && inner.pack == 0 && extent % lanes == 0;
}

// One step of the sum over the whole tile: each operand is loaded once for all results it has a
// part in, which is what a tile is for.
struct SumStep {
  int64_t arithmetic = 0, loads = 0;  // units
  int64_t vectors = 0;                // loaded, of all inputs
  int64_t sums = 1;                   // steps in all
};

SumStep step_of(const DpKernel& block, const Spec& spec, const SpecKind& kind) {
  std::array<uint32_t, kMaxDims> once{};
  SumStep step;
  for (int d = 0; d < kind.dims(); ++d) {
    once[d] = kind.reduction[d] ? 1 : spec.extents[d];
    if (kind.reduction[d]) step.sums *= spec.extents[d];
  }
  const int loop = kind.vector_loop();
  int64_t executions = 1;
  for (int d = 0; d < kind.dims(); ++d) executions *= once[d];
  step.arithmetic = executions / block.strip * block.base;
  for (int i = 0; i < kind.output(); ++i) {
    const int64_t volume = operand_shape(kind.operands[i], once.data()).volume();
    const bool vector = follows(kind.operands[i], loop);
    if (vector) step.vectors += volume / block.strip;
    step.loads += block.load * (vector ? volume / block.strip : volume);
  }
  return step;
}

// Operands come from here as the instruction runs; that they lie farther out is the business of the
// plan around the block.
// The nearest level that is no register file, as a bit of DpKernel::levels.
uint32_t nearest_memory(const DpMachine& machine) {
  uint32_t memory = 0;
  for (size_t l = machine.levels.size(); l-- > 0;)
    if (!machine.levels[l].registers) memory = 1u << l;
  return memory;
}

bool lies_in_vectors(const DpMachine& machine, const DpKernel& k, int operand) {
  for (size_t l = 0; l < machine.levels.size(); ++l)
    if (k.levels[operand] == (1u << l)) return !machine.levels[l].vectors.empty();
  return false;
}

// Units of the cheapest instruction that fills a vector of the kernel's result; -1: there is none.
int64_t cheapest_load(const DpMachine& machine, const DpKernel& k, uint32_t memory) {
  const int output = k.kind.output();
  int64_t best = -1;
  for (const DpKernel& load : machine.kernels)
    if (!load.is_statement() && load.kind.statement == "= $0" && load.kind.dims() == 1 &&
        load.extents[0] == k.extents[0] && load.levels[0] == memory &&
        load.levels[1] == k.levels[output] &&
        load.kind.operands[0].type == k.kind.operands[output].type &&
        (best < 0 || load.base < best))
      best = load.base;
  return best;
}

}  // namespace

// One block for each instruction that adds products to a vector of results. Its other operands may
// come from memory: a vector by the cheapest load there is, a scalar by the instruction itself.
std::vector<DpKernel> register_blocks(const DpMachine& machine, double latency, double crowding) {
  const uint32_t memory = nearest_memory(machine);
  std::vector<DpKernel> blocks;
  for (const DpKernel& k : machine.kernels) {
    if (k.is_statement() || !k.kind.accumulates || k.kind.dims() != 1 || k.kind.reduction[0] ||
        k.extents[0] < 2)
      continue;
    const int output = k.kind.output();
    bool fits = output >= 1 && lies_in_vectors(machine, k, output);
    DpKernel block = k;
    block.block = true;
    block.crowding = crowding;
    block.name = "block of " + k.name;
    block.strip = k.extents[0];
    if (block.latency == 0) block.latency = std::llround(latency * machine.units_per_cycle);
    block.registers.assign(machine.levels.size(), 0);
    block.max_vectors = 0;
    block.load = fits ? cheapest_load(machine, k, memory) : -1;
    for (int i = 0; i < output; ++i) {
      const bool vector = follows(k.kind.operands[i], 0);
      fits = fits && (vector ? lies_in_vectors(machine, k, i) : k.levels[i] == memory);
      block.levels[i] = memory;
    }
    if (fits && block.load >= 0) blocks.push_back(std::move(block));
  }
  return blocks;
}

// The results are vectors in registers, side by side along one loop; each input follows that loop
// in whole vectors or does not follow it at all, in one of the orders that leave the product the
// same.
bool is_register_block(const DpKernel& block, const Spec& spec, const SpecKind& kind,
                       const LayoutPool& layouts) {
  const int loop = kind.vector_loop(), output = kind.output();
  if (loop < 0 || spec.extents[loop] % block.strip != 0 ||
      spec.operands[output].vector != block.strip ||
      !(block.levels[output] >> spec.operands[output].level & 1))
    return false;
  const auto holds = [&](int i) {
    return holds_vectors(kind, kind.operands[i], loop, layouts.at(spec.operands[i].layout),
                         block.strip, spec.extents[loop]);
  };
  if (!holds(output)) return false;
  for (const std::vector<int>& order : block.kind.symmetries) {
    bool matches = true;
    for (int i = 0; i < output && matches; ++i) {
      const bool vector = follows(kind.operands[i], loop);
      matches = (block.levels[order[i]] >> spec.operands[i].level & 1) &&
                vector == follows(block.kind.operands[order[i]], 0) && (!vector || holds(i));
    }
    if (matches) return true;
  }
  return false;
}

// Beside the results: the vectors of one step, and one for the scalar that multiplies them.
int64_t block_registers(const DpKernel& block, const Spec& spec, const SpecKind& kind) {
  return step_of(block, spec, kind).vectors + 1;
}

// Each result is a chain of its own, so that a step cannot be faster than one link of it (latency).
// Loads and arithmetic have ports of their own and go on at once, but not quite: `crowding` is the
// share of the rest that shows. Without ports they add up.
int64_t block_cost(const DpKernel& block, const Spec& spec, const SpecKind& kind, bool ports) {
  const SumStep step = step_of(block, spec, kind);
  const int64_t all = step.arithmetic + step.loads;
  const int64_t busy = std::max({step.arithmetic, step.loads, block.latency});
  return step.sums *
         (ports ? busy + static_cast<int64_t>(static_cast<double>(all - std::min(all, busy)) *
                                              block.crowding)
                : std::max(all, block.latency));
}

}  // namespace exotune
