#include "search/moves.h"

#include <algorithm>

#include "search/contraction_moves.h"
#include "search/script_lines.h"

namespace exotune {

namespace {

SearchSpace elements_space(const Nest& nest, const Target& target) {
  SearchSpace space;
  const std::string unit = unit_text(target, nest.precision);
  Stage stage{"interleave", {}};
  for (int64_t interleave : {4, 8, 2, 1})
    stage.moves.push_back({{"p = optimize_level_1(p, " + literal(nest.vector_loop) + ", " + unit +
                            ", " + std::to_string(interleave) + ")"},
                           "",
                           ""});
  // Elements far apart: scalar code, a few iterations at a time.
  if (!nest.unit_stride) {
    const std::string keep = "p = keep_scalars(p, " + literal(nest.vector_loop) + ")";
    stage.moves.push_back({{keep}, "", ""});
    for (int64_t factor : {4, 8, 2})
      stage.moves.push_back({{keep, "p = interleave_loop(p, " + literal(nest.vector_loop) + ", " +
                                        std::to_string(factor) + ")"},
                             "",
                             ""});
    for (int64_t factor : {4, 8, 16})
      stage.moves.push_back({{"p = interleave_reduction(p, " + literal(nest.vector_loop) + ", " +
                              std::to_string(factor) + ", 'sum')"},
                             "",
                             ""});
  }
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

std::string list(const std::vector<int64_t>& numbers) {
  std::string out;
  for (const int64_t n : numbers) out += (out.empty() ? "[" : ", ") + std::to_string(n);
  return out + "]";
}

// Sums in registers while all rows go by; operands that are packed ahead in every order given.
void add_column_moves(const Nest& nest, const Target& target, Stage& stage) {
  const int64_t lanes = target.lanes_of(nest.precision);
  const auto add = [&](std::vector<std::string> lines, int64_t vectors, int64_t depth) {
    lines.push_back("p = accumulate_columns(p, " + literal(nest.row_loop) + ", " +
                    literal(nest.vector_loop) + ", " + unit_text(target, nest.precision) + ", " +
                    std::to_string(vectors) + ", " + std::to_string(depth) + ")");
    stage.moves.push_back({std::move(lines), "", ""});
  };
  for (const PackedOrder& packed : nest.packed_orders) {
    const std::string line = "p = pack_ahead(p, " + literal(packed.buffer) + ", " +
                             list(packed.tiles) + ", " +
                             list({packed.order.begin(), packed.order.end()}) + ")";
    const int64_t vectors = *std::max_element(packed.tiles.begin(), packed.tiles.end()) / lanes;
    // Two strips at a time are two streams from memory.
    for (const int64_t wide : {vectors, 2 * vectors})
      if (wide >= 1 && wide <= 16) add({line}, wide, packed.depth);
  }
  for (const int64_t vectors : {4, 8}) add({}, vectors, 1);
}

SearchSpace rows_space(const Nest& nest, const Target& target) {
  SearchSpace space;
  const std::string unit = unit_text(target, nest.precision);
  // Vectors run along the inner loop: when it is the outer one, the two change places first.
  if (nest.loops.back().name != nest.vector_loop)
    space.prologue.push_back("p = reorder_loops(p, " +
                             literal(nest.loops[0].name + " " + nest.loops[1].name) + ")");
  // Vectors of any stride are used once per row: worth copying, unless they are short.
  if (!nest.unit_stride)
    space.stages.push_back({"gather", {{{"p = gather_vectors(p)"}, "gathered", ""}, {{}, "", ""}}});
  Stage stage{"rows", {}};
  for (int64_t rows : {4, 8, 2, 1})
    for (int64_t interleave : {1, 2, 4}) {
      if (rows > 1 && interleave > 1) continue;
      stage.moves.push_back(
          {{"p = optimize_level_2(p, " + literal(nest.row_loop) + ", " + literal(nest.vector_loop) +
            ", " + unit + ", " + std::to_string(rows) + ", " + std::to_string(interleave) + ")"},
           "",
           ""});
    }
  for (int64_t vectors : {4, 8, 2})
    stage.moves.push_back(
        {{"p = optimize_columns(p, " + literal(nest.row_loop) + ", " + literal(nest.vector_loop) +
          ", " + unit + ", " + std::to_string(vectors) + ")"},
         "",
         ""});
  if (nest.converts || !nest.packed_orders.empty()) add_column_moves(nest, target, stage);
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

}  // namespace

SearchSpace space_for(const Nest& nest, const Target& target,
                      const std::vector<TargetLevel>& levels,
                      const std::vector<ScriptConstraint>& constraints) {
  if (!target.vector_memory || target.lanes_of(nest.precision) <= 1 || nest.vector_loop.empty())
    return {};
  switch (nest.kind) {
    case NestKind::kContraction:
      return contraction_space(contraction_of(nest, target, levels, constraints));
    case NestKind::kSums:
      return sums_space(contraction_of(nest, target, levels, constraints));
    case NestKind::kRows:
      return rows_space(nest, target);
    case NestKind::kElements:
      return elements_space(nest, target);
    case NestKind::kOther:
      break;
  }
  return {};
}

}  // namespace exotune
