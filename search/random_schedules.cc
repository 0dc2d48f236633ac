#include "search/random_schedules.h"

#include <algorithm>
#include <cmath>

#include "core/base/hashing.h"

namespace exotune {

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

std::string literal(const std::string& s) { return "'" + s + "'"; }
std::string number(int64_t v) { return std::to_string(v); }

struct Unit {
  int64_t lanes = 1, registers = 16;
  std::string memory, arguments;  // of operators that take a vector unit
};

std::string block(const std::string& loop, int64_t size, const std::string& outer,
                  const std::string& outside) {
  return "p = block_loop(p, " + literal(loop) + ", " + number(size) + ", [" + literal(outer) +
         ", " + literal(loop) + "]" + (outside.empty() ? "" : ", outside=" + literal(outside)) +
         ")";
}

// Loops in another order and cut somewhere, left to the C compiler.
ScriptLines scalar_loops(const Nest& nest, Draw& draw) {
  ScriptLines lines;
  std::vector<std::string> order;
  for (const NestLoop& l : nest.loops) order.push_back(l.name);
  for (size_t swaps = draw.next() % 4; swaps > 0 && order.size() > 1; --swaps) {
    const size_t at = draw.next() % (order.size() - 1);
    lines.push_back("p = reorder_loops(p, " + literal(order[at] + " " + order[at + 1]) + ")");
    std::swap(order[at], order[at + 1]);
  }
  if (draw.chance(40)) {
    const NestLoop& l = draw.among(nest.loops);
    if (l.extent && *l.extent > 8)
      lines.push_back(block(l.name, draw.scaled(4, *l.extent / 2), l.name + "o",
                            draw.chance(50) ? order.front() : ""));
  }
  return lines;
}

ScriptLines contraction(const Nest& nest, const Unit& unit, Draw& draw) {
  if (draw.chance(12)) return scalar_loops(nest, draw);
  const std::string &i = nest.row_loop, &j = nest.vector_loop, &k = nest.reduction_loop;
  const auto extent = [&](const std::string& l) { return nest.find(l)->extent.value_or(1); };
  std::string vectored;
  for (const Operand& o : nest.operands)
    if (o.along_vector) vectored = o.buffer;
  ScriptLines lines;
  if (draw.chance(30) && extent(j) > 4 * unit.lanes)
    lines.push_back(block(j, draw.scaled(2, extent(j) / unit.lanes / 2) * unit.lanes, j + "c",
                          nest.loops.front().name));
  if (draw.chance(75) && extent(k) > 16)
    lines.push_back(block(k, draw.scaled(8, extent(k)), k + "o", draw.chance(90) ? i : ""));
  const int64_t vectors =
      draw.between(1, std::min<int64_t>(6, std::max<int64_t>(1, extent(j) / unit.lanes)));
  const bool packed = !vectored.empty() && draw.chance(55);
  if (packed)
    lines.push_back("p = pack_operand(p, " + literal(vectored) + ", " + literal(i) + ", " +
                    number(vectors * unit.lanes) + ", " + unit.arguments + ")");
  const int64_t most = std::max<int64_t>(1, (unit.registers * 3 / 2 - vectors) / vectors);
  const int64_t fits = std::max<int64_t>(1, (unit.registers - vectors - 1) / vectors);
  const int64_t rows = std::min(extent(i), draw.between(1, draw.chance(70) ? fits : most));
  const std::string strip = block(j, vectors * unit.lanes, j + "o", i);
  const std::string tile = block(i, rows, i + "o", "");
  if (draw.chance(75)) {  // strips around rows, or rows around strips
    lines.push_back(strip);
    if (draw.chance(35) && extent(i) > 32)
      lines.push_back(block(i, draw.scaled(12, extent(i) / 2), i + "c", j + "o"));
    lines.push_back(tile);
  } else {
    lines.push_back(tile);
    lines.push_back(strip);
  }
  lines.push_back("p = register_block(p, " + literal(i) + ", " + literal(j) + ", " + literal(k) +
                  ", " + unit.arguments + ")");
  if (draw.chance(93)) lines.push_back("p = unroll_registers(p, " + unit.memory + ")");
  if (draw.chance(25))
    lines.push_back("p = interleave_loop(p, " + literal(k) + ", " +
                    number(draw.among<int64_t>({2, 4, 8})) + ")");
  return lines;
}

ScriptLines rows(const Nest& nest, const Unit& unit, Draw& draw) {
  ScriptLines lines;
  std::string outer = nest.row_loop;
  if (nest.loops.back().name != nest.vector_loop)
    lines.push_back("p = reorder_loops(p, " +
                    literal(nest.loops[0].name + " " + nest.loops[1].name) + ")");
  const std::string at =
      "(p, " + literal(outer) + ", " + literal(nest.vector_loop) + ", " + unit.arguments + ", ";
  const int64_t how = draw.between(0, 99);
  if (how < 50) {
    const int64_t rows = draw.among<int64_t>({1, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48});
    // Several chains of a sum; elements that are written have none.
    const bool sums = !nest.find(nest.vector_loop)->in_output;
    const int64_t chains = sums ? draw.among<int64_t>({1, 1, 2, 3, 4, 6, 8, 12}) : 1;
    lines.push_back("p = optimize_level_2" + at + number(rows) + ", " +
                    number(rows > 4 ? std::min<int64_t>(chains, 3) : chains) + ")");
  } else if (how < 80) {
    lines.push_back(
        "p = optimize_columns" + at +
        number(draw.among<int64_t>({1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 36, 48})) +
        ")");
  } else if (how < 92) {
    lines.push_back("p = interleave_reduction(p, " + literal(nest.vector_loop) + ", " +
                    number(draw.among<int64_t>({2, 3, 4, 8, 16, 32})) + ", 'sum')");
  } else {
    lines.push_back("p = interleave_loop(p, " +
                    literal(draw.chance(50) ? outer : nest.vector_loop) + ", " +
                    number(draw.among<int64_t>({2, 3, 4, 6, 8, 12, 16})) + ")");
  }
  return lines;
}

ScriptLines elements(const Nest& nest, const Unit& unit, Draw& draw) {
  const std::string loop =
      literal(nest.vector_loop.empty() ? nest.loops.front().name : nest.vector_loop);
  const int64_t how = draw.between(0, 99);
  if (how < 65)
    return {"p = optimize_level_1(p, " + loop + ", " + unit.arguments + ", " +
            number(draw.among<int64_t>({1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32})) + ")"};
  if (how < 80)
    return {"p = interleave_reduction(p, " + loop + ", " +
            number(draw.among<int64_t>({2, 3, 4, 8, 16, 32})) + ", 'sum')"};
  return {"p = interleave_loop(p, " + loop + ", " + number(draw.among<int64_t>({2, 3, 4, 8, 16})) +
          ")"};
}

}  // namespace

std::vector<ScriptLines> random_schedules(const Nest& nest, const Target& target, int count,
                                          uint64_t seed) {
  std::vector<ScriptLines> out(1);
  if (!target.vector_memory || nest.loops.empty() || nest.vector_loop.empty()) return out;
  Unit unit;
  unit.lanes = std::max(1, target.lanes_of(nest.precision));
  unit.registers = target.vector_memory->count > 0 ? target.vector_memory->count : 32;
  unit.memory = target.vector_memory->name;
  unit.arguments = number(unit.lanes) + ", " + unit.memory + ", instrs";
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
