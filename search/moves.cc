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

// The loop at the end of a chain of tiles: io for i in io * 8 + i.
const NestLoop& outermost_part(const Nest& nest, const std::string& loop) {
  const NestLoop* at = nest.find(loop);
  while (!at->outer.empty()) at = nest.find(at->outer);
  return *at;
}

bool keeps_order(const std::vector<ScriptConstraint>& constraints) {
  return std::any_of(constraints.begin(), constraints.end(), [](const ScriptConstraint& c) {
    return c.kind == "keep_order" && *c.args[0].as<bool>();
  });
}

// What the moves of a contraction are made from.
struct Contraction {
  const Nest& nest;
  const Target& target;
  const std::vector<ScriptConstraint>& constraints;
  std::string i, j, k;             // row, vector and reduction loop
  std::string front;               // the outermost loop
  std::string place;               // the loop that what is outside the tiles goes in front of
  std::string vectored;            // the operand that runs along j
  int64_t strip = 0;               // it lies in strips already
  int64_t lanes = 0, registers = 0;
  double l1 = 0, l2 = 0, l3 = 0, element = 0;
  std::string unit;
  int64_t most_vectors = 1;

  std::optional<int64_t> extent(const std::string& loop) const { return nest.find(loop)->extent; }
  bool is_tile(const std::string& loop) const { return !nest.find(loop)->outer.empty(); }
  double vector_line() const { return l1 / (static_cast<double>(lanes) * element); }

  // A tile set decides; else what the caches suggest.
  std::vector<int64_t> sizes(const std::string& loop, std::vector<int64_t> wishes) const {
    return allowed_tiles(loop, constraints).value_or(std::move(wishes));
  }
};

Contraction contraction_of(const Nest& nest, const Target& target,
                           const std::vector<TargetLevel>& levels,
                           const std::vector<ScriptConstraint>& constraints) {
  Contraction c{nest, target, constraints, nest.row_loop, nest.vector_loop, nest.reduction_loop,
                nest.loops.front().name, "", "", 0, 0, 0, 0, 0, 0, 0, "", 1};
  c.lanes = target.lanes_of(nest.precision);
  c.registers = target.vector_memory->count > 0 ? target.vector_memory->count : 32;
  c.element = bytes_of(nest.precision);
  c.unit = unit_text(target, nest.precision);
  c.l1 = cache_bytes(levels, 0, 32768);
  c.l2 = cache_bytes(levels, 1, 8 * c.l1);
  c.l3 = cache_bytes(levels, 2, 8 * c.l2);
  const auto packs = [&](const Operand& o) {
    return !o.halo && std::any_of(o.loops.begin(), o.loops.end(),
                                  [&](const std::string& l) { return !nest.find(l)->in_output; });
  };
  for (const Operand& o : nest.operands)
    if (o.along_vector && (nest.kind != NestKind::kSums || packs(o)))
      c.vectored = o.buffer, c.strip = o.strip;
  c.most_vectors = std::max<int64_t>(1, c.registers / 8);
  c.place = outermost_part(nest, c.i).name;
  if (c.is_tile(c.j)) {
    const std::string& columns = outermost_part(nest, c.j).name;
    for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend(); ++loop)
      if (loop->name == columns || loop->name == outermost_part(nest, c.i).name)
        c.place = loop->name;
  }
  return c;
}

// Columns: only when a packed panel of the vectored operand would not fit the last cache.
Stage column_blocks(const Contraction& c) {
  Stage stage{"column block", {{{}, "", ""}}};
  const std::optional<int64_t> extent = c.extent(c.j);
  const double panel = c.vector_line() / 2 * c.element;
  if (c.is_tile(c.j) || c.strip > 0 ||
      (extent && static_cast<double>(*extent) * panel <= c.l3 / 2))
    return stage;
  const double wish = c.l3 / 4 / panel;
  const int64_t step = c.lanes * 12;
  stage.moves.clear();
  for (const int64_t size : c.sizes(c.j, {ceil_div(static_cast<int64_t>(wish), step) * step}))
    stage.moves.push_back({{block_line(c.j, std::to_string(size), c.j + "c", c.front)}, "", ""});
  return stage;
}

Stage depth_blocks(const Contraction& c, const std::string& outside) {
  Stage stage{"depth block", {}};
  if (c.is_tile(c.k)) return {"depth block", {{{}, "", ""}}};
  const double line = c.vector_line();
  const std::vector<int64_t> sizes =
      c.sizes(c.k, balanced(c.extent(c.k), {line / 6, line / 3, line / 2, line / 1.5}));
  for (const int64_t size : sizes)
    stage.moves.push_back({{block_line(c.k, std::to_string(size), c.k + "o", outside)}, "", ""});
  if (stage.moves.empty()) stage.moves.push_back({{}, "", ""});
  return stage;
}

std::string vectors_tag(int64_t vectors) { return "vectors=" + std::to_string(vectors); }

// Strips of the vectored operand, packed or not, and the register tile's width with it.
Stage strips(const Contraction& c, const std::string& before, const std::string& outside) {
  Stage stage{"strips", {}};
  const std::optional<int64_t> extent = c.extent(c.j), rows = c.extent(c.i);
  const bool many_rows = !rows || *rows > 8 || c.is_tile(c.i);
  const bool packs = !c.vectored.empty() && c.strip == 0 && many_rows;
  const auto pack = [&](int64_t width) {
    return "p = pack_operand(p, " + literal(c.vectored) + ", " + literal(before) + ", " +
           std::to_string(width) + ", " + c.unit + ")";
  };
  const auto add = [&](int64_t width, std::vector<std::string> lines) {
    const std::string tag = vectors_tag(ceil_div(width, c.lanes));
    if (packs) {
      std::vector<std::string> packed = lines;
      packed.insert(packed.begin(), pack(width));
      stage.moves.push_back({std::move(packed), tag, ""});
      // Or one strip at a time, while it is in the nearest cache.
      if (!lines.empty()) {
        packed = lines;
        packed.push_back(pack(width));
        stage.moves.push_back({std::move(packed), tag, ""});
      }
    }
    stage.moves.push_back({std::move(lines), tag, ""});
  };
  if (c.is_tile(c.j)) {
    if (*extent <= c.most_vectors * c.lanes) add(*extent, {});
    return stage;
  }
  std::vector<int64_t> widths;
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors) {
    if (extent && vectors > 1 && *extent < (vectors - 1) * c.lanes + 1) continue;
    widths.push_back(vectors * c.lanes);
  }
  if (c.strip > 0) std::erase_if(widths, [&](int64_t w) { return c.strip % w != 0; });
  if (c.strip > 0 && c.strip <= c.most_vectors * c.lanes) widths = {c.strip};
  for (const int64_t width : c.sizes(c.j, widths)) {
    if (width > c.most_vectors * c.lanes) continue;
    const std::string text = extent ? std::to_string(width) : halving(width, c.lanes);
    add(width, {block_line(c.j, text, c.j + "o", outside)});
  }
  return stage;
}

// Rows that share the second cache with the strip.
Stage row_blocks(const Contraction& c, const std::string& outside) {
  Stage stage{"row block", {{{}, "", ""}}};
  const NestLoop& whole = outermost_part(c.nest, c.i);
  const int64_t height = c.is_tile(c.i) ? *c.extent(c.i) : 1;
  const double wish = c.l2 / 2 / (c.vector_line() / 3 * c.element);
  std::optional<int64_t> extent = whole.extent;
  if (extent) extent = *extent * height;
  if (extent && static_cast<double>(*extent) <= 1.5 * wish) return stage;
  std::vector<int64_t> wishes;
  for (const int64_t size : balanced(extent, {wish / 2, wish}))
    wishes.push_back(height > 1 ? ceil_div(size, height) : ceil_div(size, 24) * 24);
  for (const int64_t size : c.sizes(whole.name, wishes))
    stage.moves.push_back(
        {{block_line(whole.name, std::to_string(size), c.i + "c", outside)}, "", ""});
  return stage;
}

std::vector<std::string> micro_kernel(const Contraction& c) {
  return {"p = register_block(p, " + literal(c.i) + ", " + literal(c.j) + ", " + literal(c.k) +
              ", " + c.unit + ")",
          "p = unroll_registers(p, " + c.target.vector_memory->name + ")"};
}

Stage register_tiles(const Contraction& c) {
  Stage stage{"register tile", {}};
  const std::optional<int64_t> extent = c.extent(c.i);
  const auto add = [&](std::vector<std::string> lines, const std::string& tag) {
    for (std::string& line : micro_kernel(c)) lines.push_back(std::move(line));
    stage.moves.push_back({std::move(lines), "", tag});
  };
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors) {
    const std::string tag = vectors_tag(vectors);
    const int64_t most = (c.registers - vectors - 1) / vectors;  // tile, a row of b, a broadcast
    if (c.is_tile(c.i)) {
      if (*extent <= most + 1) add({}, tag);
      continue;
    }
    std::set<int64_t> heights;
    for (int64_t h : {most, most - 1, most - 2, most / 2 + 1, int64_t{8}, int64_t{6}, int64_t{4}})
      if (h >= 1 && h <= most && h * vectors >= std::min<int64_t>(8, c.registers / 4))
        heights.insert(h);
    if (extent)
      for (int64_t h = most; h >= 2; --h)
        if (*extent % h == 0 && h * vectors >= 8) {
          heights.insert(h);
          break;
        }
    for (const int64_t h : c.sizes(c.i, {heights.rbegin(), heights.rend()})) {
      if (h > most + 1) continue;
      add({block_line(c.i, extent ? std::to_string(h) : halving(h, 1), c.i + "o", "")}, tag);
    }
  }
  return stage;
}

// Tiles inside; the outer part of each loop stays where the loop was.
SearchSpace ordered_contraction_space(const Contraction& c) {
  SearchSpace space;
  Stage rows{"row tile", {}};
  for (const Stage& tiles = register_tiles(c); const Move& m : tiles.moves) {
    Move start = m;
    start.lines.resize(start.lines.size() - 2);  // without the micro-kernel
    start.tag = m.needs + " " + (start.lines.empty() ? "" : start.lines.front());
    start.needs = "";
    rows.moves.push_back(std::move(start));
  }
  Stage columns = strips(c, c.place, c.i);
  for (Move& m : columns.moves) m.needs = "";
  space.stages.push_back(std::move(rows));
  space.stages.push_back(std::move(columns));
  Stage depth = depth_blocks(c, c.i);
  depth.moves.push_back({{}, "", ""});
  space.stages.push_back(std::move(depth));
  Stage kernel{"micro-kernel", {{micro_kernel(c), "", ""}}};
  space.stages.push_back(std::move(kernel));
  return space;
}

const char kByColumns[] = "by columns";
std::string panel_tag(int64_t vectors) { return "panels, vectors=" + std::to_string(vectors); }

// Which operand stays in the nearest cache while the other goes by: a strip of the vectored one (by
// columns: the stages that follow), or the rows of a tile. Then a panel of strips lies in the second
// cache, sums are longer, and the result is visited less often. Worth a try only when the vectored
// operand is larger than that cache.
Stage orders(const Contraction& c) {
  Stage stage{"order", {}};
  const auto rows = c.extent(c.i), columns = c.extent(c.j), depth = c.extent(c.k);
  if (!c.constraints.empty() || c.vectored.empty() || c.strip > 0 || c.is_tile(c.i) ||
      c.is_tile(c.j) || c.is_tile(c.k) || !rows || !columns || !depth || *rows <= 8 ||
      static_cast<double>(*columns * *depth) * c.element <= c.l2)
    return stage;
  stage.moves.push_back({{}, kByColumns, ""});
  for (int64_t vectors = c.most_vectors; vectors >= 1 && vectors + 1 >= c.most_vectors; --vectors) {
    const int64_t width = vectors * c.lanes, height = (c.registers - vectors - 1) / vectors;
    const double line = c.l1 / (static_cast<double>(height) * c.element);
    for (const int64_t k : balanced(depth, {line * 0.5, line * 0.65, line * 0.85})) {
      std::set<int64_t> panels;
      for (const double share : {0.375, 0.5, 0.75})
        panels.insert(std::max<int64_t>(
            1, static_cast<int64_t>(c.l2 * share / (static_cast<double>(k * width) * c.element))));
      for (const int64_t strips : panels)
        stage.moves.push_back(
            {{block_line(c.k, std::to_string(k), c.k + "o", c.place),
              block_line(c.j, std::to_string(strips * width), c.j + "c", c.place),
              "p = pack_operand(p, " + literal(c.vectored) + ", " + literal(c.place) + ", " +
                  std::to_string(width) + ", " + c.unit + ")"},
             panel_tag(vectors),
             ""});
    }
  }
  return stage;
}

// The register tiles of panels: rows outside, strips inside; with what the next rows and the next
// panel need asked for meanwhile, and plain for where there is no time for that.
std::vector<Move> panel_tiles(const Contraction& c, int64_t vectors) {
  std::vector<Move> out;
  const int64_t most = (c.registers - vectors - 1) / vectors;
  const auto meanwhile = [&](const std::string& loop, const std::string& more) {
    return "p = prefetch_meanwhile(p, " + literal(loop) + ", " + literal(c.k) + more + ")";
  };
  for (int64_t h = most; h >= std::max<int64_t>(1, most - 2); --h) {
    Move plain{{block_line(c.i, std::to_string(h), c.i + "o", ""),
                block_line(c.j, std::to_string(vectors * c.lanes), c.j + "o", c.i)},
               "",
               panel_tag(vectors)};
    Move asking = plain;
    const std::vector<std::string> kernel = micro_kernel(c);
    plain.lines.insert(plain.lines.end(), kernel.begin(), kernel.end());
    asking.lines.push_back(kernel[0].substr(0, kernel[0].size() - 1) + ", apart=True)");
    asking.lines.push_back(meanwhile(c.i + "o", ""));
    asking.lines.push_back(meanwhile(c.j + "c", ", " + literal(c.vectored) + ", locality=2"));
    asking.lines.push_back(kernel[1]);
    out.push_back(std::move(asking));
    if (h == most) out.push_back(std::move(plain));
  }
  return out;
}

SearchSpace contraction_space(const Contraction& c) {
  if (keeps_order(c.constraints)) return ordered_contraction_space(c);
  SearchSpace space;
  space.stages.push_back(column_blocks(c));
  space.stages.push_back(depth_blocks(c, c.place));
  // The vectored operand is packed in front of all rows and columns of one depth.
  space.stages.push_back(strips(c, c.place, c.place));
  const std::string columns = c.is_tile(c.j) ? c.nest.find(c.j)->outer : c.j + "o";
  space.stages.push_back(row_blocks(c, columns));
  Stage tiles = register_tiles(c);
  if (Stage order = orders(c); !order.moves.empty()) {
    std::set<std::string> panels;
    for (const Move& m : order.moves)
      if (m.tag != kByColumns) panels.insert(m.tag);
    for (Stage& stage : space.stages) {
      for (Move& m : stage.moves) m.needs = kByColumns;
      for (const std::string& tag : panels) stage.moves.push_back({{}, "", tag});
    }
    for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors)
      if (panels.count(panel_tag(vectors)))
        for (Move& m : panel_tiles(c, vectors)) tiles.moves.push_back(std::move(m));
    space.stages.insert(space.stages.begin(), std::move(order));
  }
  space.stages.push_back(std::move(tiles));
  return space;
}

// --- sums of several loops -----------------------------------------------------------------------

// Loops change places until the sums are innermost and the rows, then the vectors, in front of
// them. `lines` says how; the result is the loops' order after it.
std::vector<std::string> bring_together(const Contraction& c, std::vector<std::string>& lines) {
  std::vector<std::string> order, wanted;
  for (const NestLoop& l : c.nest.loops) order.push_back(l.name);
  for (const NestLoop& l : c.nest.loops)
    if (l.in_output && l.name != c.i && l.name != c.j) wanted.push_back(l.name);
  wanted.push_back(c.i);
  wanted.push_back(c.j);
  for (const NestLoop& l : c.nest.loops)
    if (!l.in_output) wanted.push_back(l.name);
  for (size_t k = 0; k < wanted.size(); ++k)
    for (size_t at =
             static_cast<size_t>(std::find(order.begin(), order.end(), wanted[k]) - order.begin());
         at > k; --at) {
      lines.push_back("p = reorder_loops(p, " + literal(order[at - 1] + " " + order[at]) + ")");
      std::swap(order[at - 1], order[at]);
    }
  return order;
}

// Vectors of the tile, and the loop in front of which its strips are counted: beside the rows, one
// further out, or all the way, as the operand that runs along them is then read less or more often.
Stage sum_strips(const Contraction& c, const std::vector<std::string>& order) {
  Stage stage{"strips", {}};
  const std::optional<int64_t> extent = c.extent(c.j);
  const size_t row =
      static_cast<size_t>(std::find(order.begin(), order.end(), c.i) - order.begin());
  std::vector<std::string> outside = {c.i};
  if (row > 0) outside.push_back(order[row - 1]);
  if (row > 1) outside.push_back(order[0]);
  std::vector<int64_t> widths;
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors)
    if (!extent || vectors == 1 || *extent >= (vectors - 1) * c.lanes + 1)
      widths.push_back(vectors * c.lanes);
  for (const int64_t width : c.sizes(c.j, widths)) {
    if (width > c.most_vectors * c.lanes) continue;
    const std::string text = extent ? std::to_string(width) : halving(width, c.lanes);
    for (const std::string& place : outside) {
      Move move{
          {block_line(c.j, text, c.j + "o", place)}, vectors_tag(ceil_div(width, c.lanes)), ""};
      stage.moves.push_back(move);
      if (c.vectored.empty()) continue;
      // The operand in strips of its own, once for everything.
      move.lines.insert(move.lines.begin(), "p = pack_operand(p, " + literal(c.vectored) + ", " +
                                                literal(order.front()) + ", " +
                                                std::to_string(width) + ", " + c.unit + ")");
      stage.moves.push_back(std::move(move));
    }
  }
  return stage;
}

SearchSpace sums_space(const Contraction& c) {
  if (keeps_order(c.constraints)) return {};
  SearchSpace space;
  const std::vector<std::string> order = bring_together(c, space.prologue);
  space.stages.push_back(sum_strips(c, order));
  Stage tiles = register_tiles(c);
  for (Move& m : tiles.moves)
    for (std::string& line : m.lines)
      if (line.starts_with("p = register_block("))
        line = "p = sum_block(p, " + literal(c.i) + ", " + literal(c.j) + ", " + c.unit + ")";
  space.stages.push_back(std::move(tiles));
  Stage steps{"interleave", {{{}, "", ""}}};
  for (const char* factor : {"2", "4"})
    steps.moves.push_back(
        {{"p = interleave_loop(p, " + literal(c.k) + ", " + factor + ")"}, "", ""});
  space.stages.push_back(std::move(steps));
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

std::string list(const std::vector<int64_t>& numbers) {
  std::string out;
  for (const int64_t n : numbers) out += (out.empty() ? "[" : ", ") + std::to_string(n);
  return out + "]";
}

// Sums in registers while all rows go by; operands that are packed ahead in every order given.
void add_column_moves(const Nest& nest, const Target& target, Stage& stage) {
  const int64_t lanes = target.lanes_of(nest.precision);
  const auto add = [&](std::vector<std::string> lines, int64_t vectors, int64_t depth) {
    lines.push_back("p = accumulate_columns(p, " + literal(nest.row_loop) + ", " + literal(nest.vector_loop) +
                    ", " + unit_text(target, nest.precision) + ", " + std::to_string(vectors) + ", " +
                    std::to_string(depth) + ")");
    stage.moves.push_back({std::move(lines), "", ""});
  };
  for (const PackedOrder& packed : nest.packed_orders) {
    const std::string line = "p = pack_ahead(p, " + literal(packed.buffer) + ", " + list(packed.tiles) + ", " +
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
      stage.moves.push_back({{"p = optimize_level_2(p, " + literal(nest.row_loop) + ", " + literal(nest.vector_loop) +
                              ", " + unit + ", " + std::to_string(rows) + ", " + std::to_string(interleave) + ")"},
                             "", ""});
    }
  for (int64_t vectors : {4, 8, 2})
    stage.moves.push_back({{"p = optimize_columns(p, " + literal(nest.row_loop) + ", " +
                            literal(nest.vector_loop) + ", " + unit + ", " + std::to_string(vectors) + ")"},
                           "", ""});
  if (nest.converts || !nest.packed_orders.empty()) add_column_moves(nest, target, stage);
  stage.moves.push_back({{}, "", ""});
  space.stages.push_back(stage);
  return space;
}

}  // namespace

SearchSpace space_for(const Nest& nest, const Target& target, const std::vector<TargetLevel>& levels,
                      const std::vector<ScriptConstraint>& constraints) {
  if (!target.vector_memory || target.lanes_of(nest.precision) <= 1 || nest.vector_loop.empty()) return {};
  switch (nest.kind) {
    case NestKind::kContraction: return contraction_space(contraction_of(nest, target, levels, constraints));
    case NestKind::kSums:
      return sums_space(contraction_of(nest, target, levels, constraints));
    case NestKind::kRows: return rows_space(nest, target);
    case NestKind::kElements: return elements_space(nest, target);
    case NestKind::kOther: break;
  }
  return {};
}

}  // namespace exotune
