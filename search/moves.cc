#include "search/moves.h"

#include <algorithm>

#include "search/contraction_moves.h"
#include "search/moves/strips.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

// Long enough that a function's loop gets going, short beside the nearest cache.
constexpr int64_t kVectorsOfAStrip = 16;

// Several vectors at once hide latencies; how many is measured, since it depends on what else the
// loop does.
SearchSpace elements_space(const Nest& nest, const VectorValues& unit) {
  SearchSpace space;
  const std::string& loop = nest.vector_loop;
  Stage stage{"interleave", {}};
  // Two ports whose results take four cycles want eight chains; fewer do where a vector has work of
  // its own, and short loops have no eight vectors.
  for (const int64_t interleave : {4, 8, 2, 1})
    stage.moves.push_back({{unit.step("optimize_level_1", {loop}, {interleave})}, "", ""});
  // Each function in a loop of its own, over strips that stay near.
  if (nest.functions > 1)
    for (const int64_t interleave : {2, 4, 1})
      stage.moves.push_back({{{"stage_functions", {loop, kVectorsOfAStrip * unit.lanes()}},
                              unit.step("optimize_level_1", {loop}, {interleave})},
                             "",
                             ""});
  // Elements far apart: scalar code, a few iterations at a time.
  if (!nest.unit_stride) {
    const ScheduleStep keep{"keep_scalars", {loop}};
    stage.moves.push_back({{keep}, "", ""});
    for (const int64_t factor : {4, 8, 2})
      stage.moves.push_back({{keep, interleave_step(loop, factor)}, "", ""});
    // Scalar sums have no vectors to be in flight beside: more chains are worth a try.
    for (const int64_t factor : {4, 8, 16})
      stage.moves.push_back({{{"interleave_reduction", {loop, factor, "sum"}}}, "", ""});
  }
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

// Sums in registers while all rows go by; operands that are packed ahead in every order given.
void add_column_moves(const Nest& nest, const VectorValues& unit, Stage& stage) {
  const auto add = [&](Steps steps, int64_t vectors, int64_t depth) {
    steps.push_back(unit.step("accumulate_columns", {nest.row_loop, nest.vector_loop},
                              {Value(vectors), Value(depth)}));
    stage.moves.push_back({std::move(steps), "", ""});
  };
  for (const PackedOrder& packed : nest.packed_orders) {
    const ScheduleStep ahead{"pack_ahead",
                             {packed.buffer, Value::ints(packed.tiles),
                              Value::ints({packed.order.begin(), packed.order.end()})}};
    const int64_t vectors =
        *std::max_element(packed.tiles.begin(), packed.tiles.end()) / unit.lanes();
    // Two strips at a time are two streams from memory.
    for (const int64_t wide : {vectors, 2 * vectors})
      if (wide >= 1 && wide <= 16) add({ahead}, wide, packed.depth);
  }
  // As they lie, each vector is a line of a stream: fewer than four hide no latency, more than
  // eight are more streams than prefetchers follow.
  for (const int64_t vectors : {4, 8}) add({}, vectors, 1);
}

SearchSpace rows_space(const Nest& nest, const VectorValues& unit, int64_t registers) {
  SearchSpace space;
  const ValueList loops = {nest.row_loop, nest.vector_loop};
  // Vectors run along the inner loop: when it is the outer one, the two change places first.
  if (nest.loops.back().name != nest.vector_loop)
    space.prologue.push_back(swap_step(nest.loops[0].name, nest.loops[1].name));
  // Vectors of any stride are used once per row: worth copying, unless they are short.
  if (!nest.unit_stride)
    space.stages.push_back({"gather", {{{{"gather_vectors", {}}}, "gathered", ""}, {{}, "", ""}}});
  Stage stage{"rows", {}};
  // Each row is a chain of its own and a stream: four rows hide what one row needs four vectors at
  // once for, so only a single row is interleaved too.
  for (const int64_t rows : {4, 8, 2, 1})
    for (const int64_t interleave : {1, 2, 4}) {
      if (rows > 1 && interleave > 1) continue;
      stage.moves.push_back(
          {{unit.step("optimize_level_2", loops, {Value(rows), Value(interleave)})}, "", ""});
    }
  // Sums of columns stay in as many registers while the rows go by; at eight the operands still
  // find room in sixteen.
  if (!nest.find(nest.row_loop)->in_output)
    for (const int64_t vectors : {4, 8, 2})
      stage.moves.push_back({{unit.step("optimize_columns", loops, {vectors})}, "", ""});
  // Where each row has results of its own, what all of them read does.
  const int64_t shared =
      std::count_if(nest.operands.begin(), nest.operands.end(), [&](const Operand& o) {
        return o.rank == 1 && o.along_vector &&
               !std::count(o.loops.begin(), o.loops.end(), nest.row_loop);
      });
  const bool own = nest.find(nest.row_loop)->in_output && nest.find(nest.vector_loop)->in_output;
  if (own && shared > 0 && nest.unit_stride) {
    const std::optional<int64_t> extent = nest.find(nest.vector_loop)->extent;
    for (const int64_t vectors : strips_of(unit, shared, extent))
      stage.moves.push_back(
          {strip_steps(nest.row_loop, nest.vector_loop, unit, extent, vectors), "", ""});
  }
  // A filter: many results side by side for each tap, as many vectors of them as leave room for
  // as many of the operand: half of the registers, less, and a little more.
  if (nest.slides)
    for (const int64_t vectors :
         {registers / 2, registers / 4, registers * 5 / 8, registers * 3 / 8})
      for (Steps begin : {Steps{{"fission", {nest.output + "[_] = _"}}}, Steps{}}) {
        begin.push_back(swap_step(nest.row_loop, nest.vector_loop));
        begin.push_back(
            unit.step("optimize_columns", {nest.vector_loop, nest.row_loop}, {vectors}));
        stage.moves.push_back({std::move(begin), "", ""});
      }
  if (nest.converts || !nest.packed_orders.empty()) add_column_moves(nest, unit, stage);
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

}  // namespace

int64_t widest_tile(int64_t registers) {
  int64_t vectors = 1;  // with as many of an operand, and one that is the same in all lanes
  while (vectors < 4 && (registers - vectors - 2) / (vectors + 1) > vectors) ++vectors;
  return vectors;
}

// By kind of nest; what no kind fits has no space here and is searched as a program.
SearchSpace space_for(const Nest& nest, const Target& target,
                      const std::vector<TargetLevel>& levels,
                      const std::vector<ScriptConstraint>& constraints) {
  if (!target.vector_memory || target.lanes_of(nest.precision) <= 1 || nest.vector_loop.empty())
    return {};
  const VectorValues unit(target, nest.precision,
                          allowed_instructions(instruction_values(target), constraints));
  switch (nest.kind) {
    case NestKind::kContraction:
      return contraction_space(contraction_of(nest, target, levels, constraints, unit));
    case NestKind::kSums:
      return sums_space(contraction_of(nest, target, levels, constraints, unit));
    case NestKind::kRows:
      return rows_space(nest, unit, registers_of(target));
    case NestKind::kElements:
      return elements_space(nest, unit);
    case NestKind::kOther:
      break;
  }
  return {};
}

}  // namespace exotune
