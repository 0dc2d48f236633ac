#include "search/moves.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace exotune {

namespace {

// The text of the script's vector-unit arguments: lanes, register file, instructions.
std::string unit_text(const Target& target, ScalarType precision) {
  return std::to_string(target.lanes_of(precision)) + ", " + target.vector_memory->name + ", instrs";
}

std::string literal(const std::string& s) { return "'" + s + "'"; }

std::string block_line(const std::string& loop, const std::string& sizes, const std::string& outer,
                       const std::string& outside) {
  return "p = block_loop(p, " + literal(loop) + ", " + sizes + ", [" + literal(outer) + ", " + literal(loop) +
         "]" + (outside.empty() ? "" : ", outside=" + literal(outside)) + ")";
}

// 8 -> [8, 4, 2, 1]: for a boundary whose extent is not known.
std::string halving(int64_t size, int64_t last) {
  std::string out = "[" + std::to_string(size);
  int64_t p = last;
  while (p * 2 < size) p *= 2;
  for (; p >= last; p /= 2) out += ", " + std::to_string(p);
  return out + "]";
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Block sizes near each wish that cut the extent into equal parts.
std::vector<int64_t> balanced(std::optional<int64_t> extent, const std::vector<double>& wishes) {
  std::set<int64_t> out;
  for (double wish : wishes) {
    if (!extent) {
      out.insert(std::max<int64_t>(1, static_cast<int64_t>(wish)));
      continue;
    }
    int64_t parts = std::max<int64_t>(1, static_cast<int64_t>(std::llround(static_cast<double>(*extent) / wish)));
    out.insert(ceil_div(*extent, parts));
  }
  return {out.rbegin(), out.rend()};
}

double cache_bytes(const std::vector<TargetLevel>& levels, size_t k, double otherwise) {
  size_t seen = 0;
  for (const TargetLevel& l : levels)
    if (l.is_cache() && l.bytes > 0 && seen++ == k) return static_cast<double>(l.bytes);
  return otherwise;
}

SearchSpace contraction_space(const Nest& nest, const Target& target, const std::vector<TargetLevel>& levels,
                              const SizeBinding& sizes) {
  SearchSpace space;
  const std::string &i = nest.row_loop, &j = nest.vector_loop, &k = nest.reduction_loop;
  const int64_t lanes = target.lanes_of(nest.precision);
  const int64_t registers = target.vector_memory->count > 0 ? target.vector_memory->count : 32;
  const double element = bytes_of(nest.precision);
  const std::string unit = unit_text(target, nest.precision);
  const double l1 = cache_bytes(levels, 0, 32768), l2 = cache_bytes(levels, 1, 8 * l1);
  const double l3 = cache_bytes(levels, 2, 8 * l2);
  const auto extent = [&](const std::string& loop) { return nest.find(loop)->extent; };
  std::string vectored, other;
  for (const Operand& o : nest.operands) (o.along_vector ? vectored : other) = o.buffer;
  const std::string outermost = nest.loops.front().name;

  // Columns: only when a packed panel of the vectored operand would not fit the last cache.
  Stage columns{"column block", {{{}, "", ""}}};
  const double vector_line = l1 / (static_cast<double>(lanes) * element);  // rows of one vector in L1
  if (!extent(j) || static_cast<double>(*extent(j)) * vector_line / 2 * element > l3 / 2) {
    double wish = l3 / 4 / (vector_line / 2 * element);
    int64_t size = ceil_div(static_cast<int64_t>(wish), lanes * 12) * lanes * 12;
    if (extent(j)) columns.moves.clear();
    columns.moves.push_back({{block_line(j, std::to_string(size), j + "c", outermost)}, "", ""});
    if (!extent(j)) columns.moves.erase(columns.moves.begin());
  }
  space.stages.push_back(columns);

  Stage depth{"depth block", {}};
  for (int64_t size : balanced(extent(k), {vector_line / 6, vector_line / 3, vector_line / 2, vector_line / 1.5}))
    depth.moves.push_back({{block_line(k, std::to_string(size), k + "o", i)}, "", ""});
  space.stages.push_back(depth);

  // Strips of the vectored operand, packed or not, and the register tile's width with it.
  const int64_t most_vectors = std::max<int64_t>(1, registers / 8);
  Stage strips{"strips", {}};
  for (int64_t vectors = most_vectors; vectors >= 1; --vectors) {
    int64_t width = vectors * lanes;
    if (extent(j) && vectors > 1 && *extent(j) < (vectors - 1) * lanes + 1) continue;
    const std::string tag = "vectors=" + std::to_string(vectors);
    const std::string widths = extent(j) ? std::to_string(width) : halving(width, lanes);
    const std::string strip = block_line(j, widths, j + "o", i);
    if (!vectored.empty() && (!extent(i) || *extent(i) > 8))
      strips.moves.push_back({{"p = pack_operand(p, " + literal(vectored) + ", " + literal(i) + ", " +
                                   std::to_string(width) + ", " + unit + ")",
                               strip}, tag, ""});
    strips.moves.push_back({{strip}, tag, ""});
  }
  space.stages.push_back(strips);

  // Rows that share the second cache with the strip.
  Stage rows{"row block", {{{}, "", ""}}};
  const double row_wish = l2 / 2 / (vector_line / 3 * element);
  if (!extent(i) || static_cast<double>(*extent(i)) > 1.5 * row_wish) {
    for (int64_t size : balanced(extent(i), {row_wish / 2, row_wish}))
      rows.moves.push_back({{block_line(i, std::to_string(ceil_div(size, 24) * 24), i + "c", j + "o")}, "", ""});
  }

  Stage tile{"register tile", {}};
  for (int64_t vectors = most_vectors; vectors >= 1; --vectors) {
    const std::string tag = "vectors=" + std::to_string(vectors);
    std::set<int64_t> heights;
    const int64_t most = (registers - vectors - 1) / vectors;  // tile, one row of b, one broadcast
    for (int64_t h : {most, most - 1, most - 2, most / 2 + 1, int64_t{8}, int64_t{6}, int64_t{4}})
      if (h >= 1 && h <= most && h * vectors >= std::min<int64_t>(8, registers / 4)) heights.insert(h);
    if (extent(i))
      for (int64_t h = most; h >= 2; --h)
        if (*extent(i) % h == 0 && h * vectors >= 8) {
          heights.insert(h);
          break;
        }
    for (auto h = heights.rbegin(); h != heights.rend(); ++h) {
      const std::string sizes_text = extent(i) ? std::to_string(*h) : halving(*h, 1);
      tile.moves.push_back({{block_line(i, sizes_text, i + "o", ""),
                             "p = register_block(p, " + literal(i) + ", " + literal(j) + ", " + literal(k) + ", " + unit + ")",
                             "p = unroll_registers(p, " + target.vector_memory->name + ")"},
                            "", tag});
    }
  }
  (void)sizes;
  space.stages.push_back(rows);
  space.stages.push_back(tile);
  return space;
}

SearchSpace elements_space(const Nest& nest, const Target& target) {
  SearchSpace space;
  const std::string unit = unit_text(target, nest.precision);
  Stage stage{"interleave", {}};
  for (int64_t interleave : {4, 8, 2, 1})
    stage.moves.push_back({{"p = optimize_level_1(p, " + literal(nest.vector_loop) + ", " + unit + ", " +
                            std::to_string(interleave) + ")"}, "", ""});
  // Elements far apart: scalar code, a few iterations at a time.
  if (!nest.unit_stride) {
    const std::string keep = "p = keep_scalars(p, " + literal(nest.vector_loop) + ")";
    stage.moves.push_back({{keep}, "", ""});
    for (int64_t factor : {4, 8, 2})
      stage.moves.push_back({{keep, "p = interleave_loop(p, " + literal(nest.vector_loop) + ", " +
                                        std::to_string(factor) + ")"}, "", ""});
    for (int64_t factor : {4, 8, 16})
      stage.moves.push_back({{"p = interleave_reduction(p, " + literal(nest.vector_loop) + ", " +
                              std::to_string(factor) + ", 'sum')"}, "", ""});
  }
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
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
      stage.moves.push_back({{"p = optimize_level_2(p, " + literal(nest.row_loop) + ", " + literal(nest.vector_loop) +
                              ", " + unit + ", " + std::to_string(rows) + ", " + std::to_string(interleave) + ")"},
                             "", ""});
    }
  for (int64_t vectors : {4, 8, 2})
    stage.moves.push_back({{"p = optimize_columns(p, " + literal(nest.row_loop) + ", " +
                            literal(nest.vector_loop) + ", " + unit + ", " + std::to_string(vectors) + ")"},
                           "", ""});
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

}  // namespace

SearchSpace space_for(const Nest& nest, const Target& target, const std::vector<TargetLevel>& levels,
                      const SizeBinding& sizes) {
  if (!target.vector_memory || target.lanes_of(nest.precision) <= 1 || nest.vector_loop.empty()) return {};
  switch (nest.kind) {
    case NestKind::kContraction: return contraction_space(nest, target, levels, sizes);
    case NestKind::kRows: return rows_space(nest, target);
    case NestKind::kElements: return elements_space(nest, target);
    case NestKind::kOther: break;
  }
  return {};
}

}  // namespace exotune
