#include "search/contraction_moves.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace exotune {
// The moves of matrix products in the order of the classic algorithm: columns for the farthest
// cache, depth for the middle one, packing, rows, register tiles. Sizes are shares of what each
// cache holds, rounded to multiples of the register tiles tried; several of each, since which share
// is best depends on what else lies there.

namespace {

double cache_bytes(const std::vector<TargetLevel>& levels, size_t k, double otherwise) {
  const std::vector<TargetLevel> caches = caches_of(levels);
  return k < caches.size() ? static_cast<double>(caches[k].bytes) : otherwise;
}

}  // namespace

namespace {

// How many parts: about as many as wished for, and so many that none is left over where there is
// such a number, as a rest is one more copy of everything inside.
int64_t parts_of(int64_t extent, double wish) {
  const int64_t parts =
      std::max<int64_t>(1, static_cast<int64_t>(std::llround(static_cast<double>(extent) / wish)));
  constexpr int64_t kFarthest = 64;  // of a loop of billions a number that far is no nearer wish
  for (int64_t off = 0; off <= std::min((parts + 1) / 4, kFarthest); ++off)
    for (const int64_t n : {parts + off, parts - off})
      if (extent % n == 0) return n;
  return parts;
}

}  // namespace

// Equal parts nearest to each wish: a loop of 500 in blocks of 256 would leave 244 in 256's place,
// and one of 260 a block of 4 that costs its packing and its boundary for nothing.
std::vector<int64_t> balanced(std::optional<int64_t> extent, const std::vector<double>& wishes) {
  std::set<int64_t> out;
  for (double wish : wishes)
    out.insert(extent ? ceil_div(*extent, parts_of(*extent, wish))
                      : std::max<int64_t>(1, static_cast<int64_t>(wish)));
  return {out.rbegin(), out.rend()};
}

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

// Which loop is what, from the nest; null figures of a cache mean that the level is not there, and
// its stage is left out.
Contraction contraction_of(const Nest& nest, const Target& target,
                           const std::vector<TargetLevel>& levels,
                           const std::vector<ScriptConstraint>& constraints,
                           const VectorValues& unit) {
  Contraction c{.nest = nest,
                .target = target,
                .constraints = constraints,
                .i = nest.row_loop,
                .j = nest.vector_loop,
                .k = nest.reduction_loop,
                .front = nest.loops.front().name,
                .unit = unit};
  c.lanes = target.lanes_of(nest.precision);
  c.registers = registers_of(target);
  c.element = bytes_of(nest.precision);
  c.l1 = cache_bytes(levels, 0, 32768);
  if (const std::vector<TargetLevel> all = caches_of(levels); !all.empty())
    c.line = all.front().line_bytes;
  c.l2 = cache_bytes(levels, 1, 8 * c.l1);
  c.l3 = cache_bytes(levels, 2, 8 * c.l2);
  const auto packs = [&](const Operand& o) {
    return !o.halo && std::any_of(o.loops.begin(), o.loops.end(),
                                  [&](const std::string& l) { return !nest.find(l)->in_output; });
  };
  for (const Operand& o : nest.operands)
    if (o.along_vector && c.turned < 0 && (nest.kind != NestKind::kSums || packs(o)))
      c.vectored = o.buffer, c.strip = o.strip, c.turned = o.turned;
  for (const Operand& o : nest.operands)
    if (nest.results > 1 && o.buffer != c.vectored && o.along_vector && o.turned < 0 && o.one_way &&
        o.strip == 0 && packs(o) && std::find(o.loops.begin(), o.loops.end(), c.i) == o.loops.end())
      c.beside.push_back(o.buffer);
  for (const Operand& o : nest.operands)
    if (const auto i = o.dimension.find(c.i), k = o.dimension.find(c.k);
        i != o.dimension.end() && k != o.dimension.end() && !o.along_vector &&
        k->second + 1 < o.rank && !o.dimension.count(c.j))
      c.strided = {o.buffer, i->second, k->second};
  c.most_vectors = widest_tile(c.registers);
  c.place = outermost_part(nest, c.i).name;
  if (c.is_tile(c.j)) {
    const std::string& columns = outermost_part(nest, c.j).name;
    for (auto loop = nest.loops.rbegin(); loop != nest.loops.rend(); ++loop)
      if (loop->name == columns || loop->name == outermost_part(nest, c.i).name)
        c.place = loop->name;
  }
  return c;
}

namespace {

// Columns: only when a packed panel of the vectored operand would not fit the last cache.
Stage column_blocks(const Contraction& c) {
  Stage stage{"column block", {{{}, "", ""}}};
  const std::optional<int64_t> extent = c.most(c.j);
  const double panel = c.vector_line() / 2 * c.element;
  if (c.is_tile(c.j) || c.strip > 0 || (extent && static_cast<double>(*extent) * panel <= c.l3 / 2))
    return stage;
  const double wish = c.l3 / 4 / panel;
  const int64_t step = c.lanes * 12;
  stage.moves.clear();
  for (const int64_t size : c.sizes(c.j, {ceil_div(static_cast<int64_t>(wish), step) * step}))
    stage.moves.push_back({{block_step(c.j, size, c.block_of(c.j), c.front)}, "", ""});
  return stage;
}

Stage depth_blocks(const Contraction& c, const std::string& outside) {
  Stage stage{"depth block", {}};
  if (c.is_tile(c.k)) return {"depth block", {{{}, "", ""}}};
  const double line = c.vector_line();
  const std::vector<int64_t> sizes =
      c.sizes(c.k, balanced(c.extent(c.k), {line / 6, line / 3, line / 2, line / 1.5}));
  for (const int64_t size : sizes) {
    if (size > c.most(c.k).value_or(size)) continue;
    stage.moves.push_back({{block_step(c.k, size, c.outer_of(c.k), outside)}, "", ""});
  }
  if (stage.moves.empty()) stage.moves.push_back({{}, "", ""});
  return stage;
}

}  // namespace

std::string vectors_tag(int64_t vectors) { return "vectors=" + std::to_string(vectors); }

namespace {

// Strips of the vectored operand, packed or not, and the register tile's width with it.
Stage strips(const Contraction& c, const std::string& before, const std::string& outside) {
  Stage stage{"strips", {}};
  const std::optional<int64_t> extent = c.extent(c.j), most = c.most(c.j), rows = c.most(c.i);
  const bool many_rows = !rows || *rows > 8 || c.is_tile(c.i);
  const bool packs = !c.vectored.empty() && c.strip == 0 && (many_rows || c.turned >= 0);
  const auto pack = [&](int64_t width) {
    return pack_step(c.vectored, before, width, c.unit, c.turned);
  };
  const auto add = [&](int64_t width, const Steps& steps) {
    const std::string tag = vectors_tag(ceil_div(width, c.lanes));
    if (packs) {
      Steps packed = steps;
      packed.insert(packed.begin(), pack(width));
      stage.moves.push_back({std::move(packed), tag, ""});
      // Or one strip at a time, while it is in the nearest cache.
      if (!steps.empty()) {
        packed = steps;
        packed.push_back(pack(width));
        stage.moves.push_back({std::move(packed), tag, ""});
      }
    }
    if (c.turned < 0) stage.moves.push_back({steps, tag, ""});
  };
  if (c.is_tile(c.j)) {
    if (*extent <= c.most_vectors * c.lanes) add(*extent, {});
    return stage;
  }
  std::vector<int64_t> widths;
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors) {
    if (most && vectors > 1 && *most < (vectors - 1) * c.lanes + 1) continue;
    widths.push_back(vectors * c.lanes);
  }
  if (c.strip > 0) std::erase_if(widths, [&](int64_t w) { return c.strip % w != 0; });
  if (c.strip > 0 && c.strip <= c.most_vectors * c.lanes) widths = {c.strip};
  for (const int64_t width : c.sizes(c.j, widths)) {
    if (width > c.most_vectors * c.lanes) continue;
    add(width, {block_step(c.j, extent ? Value(width) : halving(width, c.lanes), c.outer_of(c.j),
                           outside)});
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
  if (whole.most && static_cast<double>(*whole.most * height) <= 1.5 * wish) return stage;
  std::vector<int64_t> wishes;
  for (const int64_t size : balanced(extent, {wish / 2, wish}))
    wishes.push_back(height > 1 ? ceil_div(size, height) : ceil_div(size, 24) * 24);
  for (const int64_t size : c.sizes(whole.name, wishes))
    stage.moves.push_back({{block_step(whole.name, size, c.block_of(c.i), outside)}, "", ""});
  return stage;
}

}  // namespace

// The same steps for all tiles: what differs between candidates is only sizes.
Steps micro_kernel(const Contraction& c) {
  return {register_block_step(c.i, c.j, c.k, c.unit, c.nest.adds && lasts_for_asking(c.most(c.k))),
          unroll_registers_step(c.unit)};
}

Stage register_heights(const Contraction& c) {
  Stage stage{"register tile", {}};
  const std::optional<int64_t> extent = c.extent(c.i), rows = c.most(c.i);
  const auto add = [&](Steps steps, const std::string& tag) {
    stage.moves.push_back({std::move(steps), "", tag});
  };
  for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors) {
    const std::string tag = vectors_tag(vectors);
    // Tiles, a row of each operand along the vectors, a broadcast.
    const int64_t taken = c.nest.results > 1 ? c.nest.shared * vectors : vectors,
                  most = (c.registers - taken - 1) / (vectors * c.nest.results);
    if (c.is_tile(c.i)) {
      if (*extent <= most + 1) add({}, tag);
      continue;
    }
    std::set<int64_t> heights;
    for (int64_t h : {most, most - 1, most - 2, most / 2 + 1, int64_t{8}, int64_t{6}, int64_t{4}})
      if (h >= 1 && h <= most &&
          h * vectors * c.nest.results >= std::min<int64_t>(8, c.registers / 4))
        heights.insert(std::min(h, extent ? h : rows.value_or(h)));
    if (extent)
      for (int64_t h = most; h >= 2; --h)
        if (*extent % h == 0 && h * vectors * c.nest.results >= 8) {
          heights.insert(h);
          break;
        }
    for (const int64_t h : c.sizes(c.i, {heights.rbegin(), heights.rend()})) {
      if (h > most + 1) continue;
      add({block_step(c.i, extent ? Value(h) : halving(h, 1), c.outer_of(c.i))}, tag);
    }
  }
  return stage;
}

Stage register_tiles(const Contraction& c, const Steps& kernel) {
  Stage stage = register_heights(c);
  for (Move& m : stage.moves) m.steps.insert(m.steps.end(), kernel.begin(), kernel.end());
  return stage;
}

const char kRowsPacked[] = "rows packed";

// A tile's rows of A[k, i] are a line of each row of A, which lie a power of two apart more often
// than not: they push each other out of the nearest cache. Which of the two copies is the cheaper
// depends on whether short vectors can be stored at once.
std::vector<Move> with_rows_packed(const Contraction& c, const std::vector<Move>& tiles,
                                   const std::string& before) {
  std::vector<Move> out;
  if (c.strided.buffer.empty() || c.is_tile(c.i) || c.is_tile(c.j)) return out;
  const std::optional<int64_t> columns = c.extent(c.j);
  for (const Move& m : tiles) {
    // One strip has no loop over strips.
    const bool alone = columns && m.needs == vectors_tag(ceil_div(*columns, c.lanes));
    const std::string& place = alone ? c.place : before;
    const ScheduleStep& rows = m.steps.front();
    const Value* sizes = rows.op == "block_loop" ? value_of(rows, "sizes") : nullptr;
    if (!sizes) continue;
    const Value& first = sizes->as<ValueList>() ? sizes->as<ValueList>()->front() : *sizes;
    for (const bool turned : {false, true}) {
      Move packed{m.steps, kRowsPacked, m.needs};
      packed.steps.insert(packed.steps.begin(),
                          turned ? pack_step(c.strided.buffer, place, 0, c.unit, c.strided.sum)
                                 : pack_step(c.strided.buffer, place, *first.as<int64_t>(), c.unit,
                                             c.strided.rows));
      out.push_back(std::move(packed));
    }
  }
  return out;
}

namespace {

// Tiles inside; the outer part of each loop stays where the loop was.
SearchSpace ordered_contraction_space(const Contraction& c) {
  SearchSpace space;
  Stage rows{"row tile", {}};
  for (const Stage& tiles = register_heights(c); const Move& m : tiles.moves)
    rows.moves.push_back({m.steps, m.needs + " " + key_of(m.steps), ""});
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

}  // namespace

SearchSpace contraction_space(const Contraction& c) {
  if (keeps_order(c.constraints)) return ordered_contraction_space(c);
  SearchSpace space;
  space.stages.push_back(column_blocks(c));
  space.stages.push_back(depth_blocks(c, c.place));
  // The vectored operand is packed in front of all rows and columns of one depth.
  space.stages.push_back(strips(c, c.place, c.place));
  const std::string columns = c.is_tile(c.j) ? c.nest.find(c.j)->outer : c.outer_of(c.j);
  space.stages.push_back(row_blocks(c, columns));
  Stage tiles = register_tiles(c, micro_kernel(c));
  std::vector<Move> packed = with_rows_packed(c, tiles.moves, columns);
  if (Stage order = orders(c); !order.moves.empty()) {
    std::set<std::string> panels;
    for (const Move& m : order.moves)
      if (m.tag != kByColumns) panels.insert(m.tag);
    for (Stage& stage : space.stages) {
      for (Move& m : stage.moves) m.needs = kByColumns;
      for (const std::string& tag : panels) stage.moves.push_back({{}, "", tag});
    }
    for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors) {
      if (panels.count(standing_tag(vectors)))
        for (Move& m : standing_tiles(c, vectors)) tiles.moves.push_back(std::move(m));
      for (const bool far : {false, true}) {
        if (!panels.count(panel_tag(vectors, far))) continue;
        const std::vector<Move> plain = panel_tiles(c, vectors, far);
        tiles.moves.insert(tiles.moves.end(), plain.begin(), plain.end());
        for (Move& m : with_rows_packed(c, plain, c.block_of(c.j))) packed.push_back(std::move(m));
      }
    }
    space.in_turn = panels;
    space.in_turn.insert({kByColumns, kMeanwhile});
    space.stages.insert(space.stages.begin(), std::move(order));
  }
  // How wide a tile serves rows that lie across the sum best depends on which of their lines push
  // each other out, of which the cost knows nothing.
  if (!packed.empty()) {
    space.in_turn.insert(kRowsPacked);
    for (int64_t vectors = c.most_vectors; vectors >= 1; --vectors)
      space.in_turn.insert(vectors_tag(vectors));
  }
  for (Move& m : packed) tiles.moves.push_back(std::move(m));
  space.stages.push_back(std::move(tiles));
  return space;
}

}  // namespace exotune
