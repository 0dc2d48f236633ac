#include "search/random_schedules.h"

#include <algorithm>
#include <cmath>

#include "core/base/hashing.h"
#include "search/moves.h"
#include "search/steps/builders.h"

namespace exotune {
// Schedules for calibration: drawn over a wide range, good and bad alike, since a model fitted to
// good schedules only would not know what bad ones cost. The same draws on every machine, so that
// runs can be compared.

namespace {

// Draws from a counter: the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : seed_(seed) {}
  uint64_t next() { return hash_mix(hash_combine(seed_, ++count_)); }
  bool chance(int percent) { return next() % 100 < static_cast<uint64_t>(percent); }
  int64_t between(int64_t lo, int64_t hi) {
    return hi <= lo ? lo : lo + static_cast<int64_t>(next() % static_cast<uint64_t>(hi - lo + 1));
  }
  /// Every order of magnitude alike.
  int64_t scaled(int64_t lo, int64_t hi) {
    if (hi <= lo) return lo;
    const double share = static_cast<double>(next() % 4096) / 4096;
    return std::llround(std::exp(std::log(static_cast<double>(lo)) * (1 - share) +
                                 std::log(static_cast<double>(hi)) * share));
  }
  template <class T>
  const T& among(const std::vector<T>& choices) {
    return choices[next() % choices.size()];
  }

 private:
  uint64_t seed_, count_ = 0;
};

struct Unit {
  VectorValues values;
  int64_t registers = 16;
  int64_t lanes() const { return values.lanes(); }
};

// Loops in another order and cut somewhere, left to the C compiler.
Steps scalar_loops(const Nest& nest, Draw& draw) {
  Steps steps;
  std::vector<std::string> order;
  for (const NestLoop& l : nest.loops) order.push_back(l.name);
  for (size_t swaps = draw.next() % 4; swaps > 0 && order.size() > 1; --swaps) {
    const size_t at = draw.next() % (order.size() - 1);
    steps.push_back(swap_step(order[at], order[at + 1]));
    std::swap(order[at], order[at + 1]);
  }
  if (draw.chance(40)) {
    const NestLoop& l = draw.among(nest.loops);
    if (l.extent && *l.extent > 8)
      steps.push_back(block_step(l.name, draw.scaled(4, *l.extent / 2), l.name + "o",
                                 draw.chance(50) ? order.front() : ""));
  }
  return steps;
}

Steps contraction(const Nest& nest, const Unit& unit, Draw& draw) {
  if (draw.chance(12)) return scalar_loops(nest, draw);
  const std::string &i = nest.row_loop, &j = nest.vector_loop, &k = nest.reduction_loop;
  const auto extent = [&](const std::string& l) { return nest.find(l)->extent.value_or(1); };
  std::string vectored;
  int turned = -1;
  for (const Operand& o : nest.operands)
    if (o.along_vector && turned < 0) vectored = o.buffer, turned = o.turned;
  Steps steps;
  if (draw.chance(30) && extent(j) > 4 * unit.lanes())
    steps.push_back(block_step(j, draw.scaled(2, extent(j) / unit.lanes() / 2) * unit.lanes(),
                               j + "c", nest.loops.front().name));
  if (draw.chance(75) && extent(k) > 16)
    steps.push_back(block_step(k, draw.scaled(8, extent(k)), k + "o", draw.chance(90) ? i : ""));
  const int64_t vectors =
      draw.between(1, std::min<int64_t>(6, std::max<int64_t>(1, extent(j) / unit.lanes())));
  const bool packed = !vectored.empty() && (turned >= 0 || draw.chance(55));
  if (packed) steps.push_back(pack_step(vectored, i, vectors * unit.lanes(), unit.values, turned));
  const int64_t most = std::max<int64_t>(1, (unit.registers * 3 / 2 - vectors) / vectors);
  const int64_t fits = std::max<int64_t>(1, (unit.registers - vectors - 1) / vectors);
  const int64_t rows = std::min(extent(i), draw.between(1, draw.chance(70) ? fits : most));
  const ScheduleStep strip = block_step(j, vectors * unit.lanes(), j + "o", i);
  const ScheduleStep tile = block_step(i, rows, i + "o");
  if (draw.chance(75)) {  // strips around rows, or rows around strips
    steps.push_back(strip);
    if (draw.chance(35) && extent(i) > 32)
      steps.push_back(block_step(i, draw.scaled(12, extent(i) / 2), i + "c", j + "o"));
    steps.push_back(tile);
  } else {
    steps.push_back(tile);
    steps.push_back(strip);
  }
  steps.push_back(register_block_step(i, j, k, unit.values, false));
  if (draw.chance(93)) steps.push_back(unroll_registers_step(unit.values));
  if (draw.chance(25)) steps.push_back(interleave_step(k, draw.among<int64_t>({2, 4, 8})));
  return steps;
}

// Draws are to span what a model may ever be asked to order, not what is good: numbers far beyond
// the registers show what spilling costs, and small ones stand twice, as most schedules worth
// comparing have them.
Steps rows(const Nest& nest, const Unit& unit, Draw& draw) {
  Steps steps;
  if (nest.loops.back().name != nest.vector_loop)
    steps.push_back(swap_step(nest.loops[0].name, nest.loops[1].name));
  const ValueList loops = {nest.row_loop, nest.vector_loop};
  const int64_t how = draw.between(0, 99);
  if (how < 50) {
    const int64_t rows = draw.among<int64_t>({1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48});
    // Several chains of a sum; elements that are written have none.
    const bool sums = !nest.find(nest.vector_loop)->in_output;
    const int64_t chains = sums ? draw.among<int64_t>({1, 1, 2, 3, 4, 6, 8, 12}) : 1;
    steps.push_back(
        unit.values.step("optimize_level_2", loops,
                         {Value(rows), Value(rows > 4 ? std::min<int64_t>(chains, 3) : chains)}));
  } else if (how < 80) {
    const int64_t vectors =
        draw.among<int64_t>({1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 36, 48});
    steps.push_back(unit.values.step("optimize_columns", loops, {vectors}));
  } else if (how < 92) {
    const int64_t sums = draw.among<int64_t>({2, 3, 4, 8, 16, 32});
    steps.push_back({"interleave_reduction", {nest.vector_loop, sums, "sum"}});
  } else {
    const std::string& loop = draw.chance(50) ? nest.row_loop : nest.vector_loop;
    steps.push_back(interleave_step(loop, draw.among<int64_t>({2, 3, 4, 6, 8, 12, 16})));
  }
  return steps;
}

Steps elements(const Nest& nest, const Unit& unit, Draw& draw) {
  const std::string& loop = nest.vector_loop.empty() ? nest.loops.front().name : nest.vector_loop;
  const int64_t how = draw.between(0, 99);
  if (how < 65) {
    const int64_t vectors = draw.among<int64_t>({1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32});
    return {unit.values.step("optimize_level_1", {loop}, {vectors})};
  }
  if (how < 80)
    return {{"interleave_reduction", {loop, draw.among<int64_t>({2, 3, 4, 8, 16, 32}), "sum"}}};
  return {interleave_step(loop, draw.among<int64_t>({2, 3, 4, 8, 16}))};
}

}  // namespace

std::vector<Steps> random_schedules(const Nest& nest, const Target& target, int count,
                                    uint64_t seed) {
  std::vector<Steps> out(1);
  if (!target.vector_memory || nest.loops.empty() || nest.vector_loop.empty()) return out;
  const Unit unit{{target, nest.precision, instruction_values(target)}, registers_of(target)};
  while (static_cast<int>(out.size()) < count) {
    Draw draw(hash_combine(seed, out.size()));
    switch (nest.kind) {
      case NestKind::kContraction:
        out.push_back(contraction(nest, unit, draw));
        break;
      case NestKind::kRows:
        out.push_back(rows(nest, unit, draw));
        break;
      case NestKind::kElements:
        out.push_back(elements(nest, unit, draw));
        break;
      case NestKind::kSums:
      case NestKind::kOther:
        return out;
    }
  }
  return out;
}

}  // namespace exotune
