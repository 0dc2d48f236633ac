// What the kernels that may end a Spec say of its cost: a floor without any search.
#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/dp/actions.h"

namespace exotune {
// A lower bound without any search: each execution of the statement costs at least what the best
// kernel takes, and each element must at least be brought to where that kernel reads it, by the
// cheapest path of moves. The bound prunes; were it too high anywhere, the optimum would be lost,
// so every term here is a minimum taken separately.

// Units for one execution of the statement by the kernel, at least: as many vectors at once as its
// registers hold.
double ActionSpace::kernel_rate(const DpKernel& kernel, const SpecKind& kind) const {
  double executions = 1, rate = static_cast<double>(kernel.per_element);
  bool symbolic = false;
  for (const int64_t e : kernel.extents) {
    symbolic = symbolic || e == 0;
    if (e > 0) executions *= static_cast<double>(e);
  }
  if (kernel.is_statement()) return rate;
  if (kernel.block) return static_cast<double>(kernel.base) / static_cast<double>(kernel.strip);
  // A kernel of fixed extents: its cost over its executions. A symbolic one grows with the
  // registers that it is given, so it is credited with as many vectors as could be free at once.
  if (!symbolic) return rate + static_cast<double>(kernel.base) / executions;
  int widest = static_cast<int>(kernel.strip);
  int64_t registers = INT32_MAX;
  for (size_t level = 0; level < machine_.levels.size(); ++level) {
    const DpLevel& l = machine_.levels[level];
    if (l.vectors.empty()) continue;
    int operands = 0;
    for (const uint32_t levels : kernel.levels) operands += levels == (1u << level);
    if (operands > 0)
      registers = std::min(registers, (l.capacity - kernel.registers[level]) / operands);
    if (kernel.strip == 0 && operands > 0)
      for (const int bytes : l.vectors)
        widest = std::max(widest, bytes / bytes_of(kind.operands[0].type));
  }
  if (kernel.max_vectors > 0) registers = std::min(registers, kernel.max_vectors);
  if (kernel.per_vector != 0 && widest > 0) rate += static_cast<double>(kernel.per_vector) / widest;
  if (widest > 0 && registers < INT32_MAX)
    rate += static_cast<double>(kernel.base) / (static_cast<double>(registers) * widest);
  return rate;
}

double ActionSpace::copy_rate(ScalarType type) {
  const auto it = copy_rates_.find(type);
  if (it != copy_rates_.end()) return it->second;
  const SpecKind kind = kinds_.at(kinds_.move(1, type));
  double best = 1e30;
  for (const int i : facts(kinds_.move(1, type)).kernels)
    best = std::min(best, kernel_rate(machine_.kernels[i], kind));
  return copy_rates_[type] = best >= 1e30 ? 0 : best;
}

// One ending for each kernel and each order of its inputs; per_element by Bellman-Ford over the
// levels, whose number is at most eight.
void ActionSpace::find_endings(const Spec& spec, const KindFacts& f, std::vector<Ending>& into) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const int n = static_cast<int>(machine_.levels.size());
  for (const int number : f.kernels) {
    const DpKernel& kernel = machine_.kernels[number];
    for (const std::vector<int>& order :
         kernel.is_statement() ? kind.symmetries : kernel.kind.symmetries) {
      Ending ending;
      ending.per_execution = kernel_rate(kernel, kind);
      bool possible = true;
      for (int i = 0; i <= kind.output() && possible; ++i) {
        const uint32_t levels = kernel.levels_of(i < kind.output() ? order[i] : i);
        const int bytes = bytes_of(kind.operands[i].type);
        const bool output = i == kind.output();
        const int copies = output ? (kind.accumulates ? 2 : 1) : 1;
        // The cheapest way from each level to one that the kernel takes the operand from.
        std::vector<double> need(n, 1e30);
        for (int l = 0; l < n; ++l)
          if (levels >> l & 1) need[l] = 0;
        for (int round = 0; round < n; ++round)
          for (int l = 0; l < n; ++l)
            for (const int to : machine_.levels[l].destinations) {
              double step =
                  static_cast<double>(machine_.levels[l].cost + machine_.levels[to].cost) * bytes /
                  machine_.line_bytes;
              if (!machine_.levels[to].cache) step += copies * copy_rate(kind.operands[i].type);
              if (to != l) need[l] = std::min(need[l], need[to] + step);
            }
        ending.per_element[i] = need[spec.operands[i].level];
        possible = ending.per_element[i] < 1e30;
        bool vector = true;  // every level it may be taken from has registers of a width
        for (int l = 0; l < n; ++l)
          if ((levels >> l & 1) && machine_.levels[l].vectors.empty()) vector = false;
        if (vector) ending.vectors |= 1u << i;
      }
      if (!kernel.same_vectors || registers_relayout_) ending.vectors = 0;
      if (possible) into.push_back(ending);
    }
  }
}

// The key has three bits a level: an array instead of a map, since floor() is asked for each action
// of each Spec.
const std::vector<ActionSpace::Ending>& ActionSpace::endings(const Spec& spec) {
  static_assert(kMaxLevels <= 8);
  size_t key = spec.kind;
  for (const OperandState& o : spec.operands) key = key * 8 + o.level;
  if (key >= endings_.size()) endings_.resize(key + 1);
  if (!endings_[key]) {
    auto found = std::make_unique<std::vector<Ending>>();
    find_endings(spec, facts(spec.kind), *found);
    endings_[key] = std::move(found);
  }
  return *endings_[key];
}

// The answer is rounded down and shaved by a billionth: sums of doubles must not end above the
// integers they stand for.
int64_t ActionSpace::floor(const Spec& spec) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const std::vector<Ending>& endings = this->endings(spec);
  if (endings.empty()) return kNoCost;
  double executions = 1;
  for (int d = 0; d < kind.dims(); ++d) executions *= spec.extents[d];
  std::array<double, kMaxOperands> elements;
  const int operands = kind.output() + 1;
  for (int i = 0; i < operands; ++i)
    elements[i] =
        static_cast<double>(operand_shape(kind.operands[i], spec.extents.data()).volume());
  double best = 1e300;
  for (const Ending& e : endings) {
    // Registers that cannot be rearranged must hold vectors of one width along one loop.
    int width = 0, loop = -1;
    bool fits = true;
    for (int i = 0; i < operands && fits; ++i) {
      const int vector = spec.operands[i].vector;
      if (!(e.vectors >> i & 1) || vector == 0) continue;
      fits = width == 0 || width == vector;
      width = vector;
      const TensorLayout& layout = layouts_.at(spec.operands[i].layout);
      if (layout.rank == 0) continue;
      const Subscript& inner = kind.operands[i].subscripts[layout.dims[layout.rank - 1].dim];
      const int along = inner.size() == 1 ? inner[0].dim : -1;
      fits = fits && layout.contiguous > 0 && (loop < 0 || loop == along);
      loop = along;
    }
    if (!fits) continue;
    double units = executions * e.per_execution;
    for (int i = 0; i < operands; ++i) units += elements[i] * e.per_element[i];
    best = std::min(best, units);
  }
  if (best >= 1e300) return kNoCost;
  // At best all threads share the work evenly.
  if (spec.threads == Threads::kMayStart) best /= machine_.threads;
  return static_cast<int64_t>(best * (1 - 1e-9));
}

}  // namespace exotune
