#include "search/moves/dot_tiles.h"

#include <algorithm>

#include "core/library/dot_block.h"
#include "core/library/inspection.h"
#include "core/library/tile_block.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

std::vector<ProcPtr> procs_of(const ValueList& instructions) {
  std::vector<ProcPtr> out;
  for (const Value& v : instructions)
    if (const ProcPtr* p = v.as<ProcPtr>()) out.push_back(*p);
  return out;
}

// The loops of a nest of nothing but loops, outermost first; what sets a sum may stand in front of
// the innermost.
std::vector<const For*> perfect_loops(const Proc& p) {
  std::vector<const For*> out;
  const Block* body = &p.body;
  while (!body->empty()) {
    const For* f = body->back()->as<For>();
    if (!f || (body->size() != 1 && (body->size() != 2 || !body->front()->as<Assign>()))) break;
    out.push_back(f);
    if (body->size() == 2) break;
    body = &f->body;
  }
  return out;
}

// How deep blocks may be so that a strip of `row_bytes` a step stays in a part of each cache; the
// whole depth first.
std::vector<int64_t> depths(int64_t depth, int64_t row_bytes, int64_t group,
                            const std::vector<TargetLevel>& levels) {
  std::vector<int64_t> out{depth};
  for (const TargetLevel& level : caches_of(levels)) {
    const int64_t most = level.bytes / 2 / row_bytes;
    if (most < group || depth <= most) continue;
    const int64_t even = ceil_div(depth, ceil_div(depth, most));
    out.push_back(ceil_div(even, group) * group);
    if (out.size() == 3) break;
  }
  return out;
}

// A product of the last three of the nest's loops.
struct ProductLoops {
  std::string i, j, k;
  int64_t height = 0, width = 0, depth = 0;
  bool begun = false;  // what sets the sums stands in front of the depth
};

// The depth in blocks, as a step of its own; nothing where it is whole.
std::vector<ScheduleStep> depth_cut(const ProductLoops& l, int64_t deep) {
  if (deep == l.depth) return {};
  return {{"block_loop",
           {Value(l.k), Value::ints({deep}), Value::strings({l.k + "o", l.k}), Value(l.i)},
           {}}};
}

// The columns in blocks of which the second factor fills half the second cache; nothing where it
// does anyway.
std::vector<ScheduleStep> width_cut(const ProductLoops& l, const TileInstr& tile,
                                    const std::vector<TargetLevel>& levels) {
  const std::vector<TargetLevel> caches = caches_of(levels);
  if (caches.size() < 2) return {};
  const int64_t most = caches[1].bytes / 2 / (l.depth * bytes_of(tile.b));
  if (most < tile.columns || l.width <= most) return {};
  const int64_t even = ceil_div(l.width, ceil_div(l.width, most));
  const int64_t wide = ceil_div(even, tile.columns) * tile.columns;
  return {{"block_loop",
           {Value(l.j), Value::ints({wide}), Value::strings({l.j + "b", l.j}), Value(l.i)},
           {}}};
}

// Blocks of tiles that a register file of their own holds with their operands, the largest first.
// What tiles leave of the loops is for dot instructions, in the usual vector tiles.
std::vector<Finish> whole_tiles_of(const ProductLoops& l, const TileInstr& tile,
                                   const std::optional<DotInstr>& dot, const Target& target,
                                   const std::vector<TargetLevel>& levels,
                                   const ValueList& instructions) {
  const int64_t group_depth = tile.depth * tile.group;
  if (l.height < tile.rows || l.width < tile.columns || l.depth < group_depth) return {};
  // Of what tiles leave, is any of the nests one for dot instructions?
  const bool rests = dot && (l.height % tile.rows != 0 || l.width % tile.columns > 1 ||
                             l.depth % group_depth >= dot->group);
  std::vector<std::pair<int64_t, int64_t>> blocks;
  const int64_t most = tile.memory->count;
  for (int64_t rows = 1; rows <= l.height / tile.rows; ++rows)
    for (int64_t columns = 1; columns <= l.width / tile.columns; ++columns) {
      if (rows * columns + rows + columns > most) break;
      blocks.emplace_back(rows, columns);
    }
  // Products for each operand that is loaded.
  const auto reuse = [](const std::pair<int64_t, int64_t>& b) {
    return static_cast<double>(b.first * b.second) / static_cast<double>(b.first + b.second);
  };
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](const auto& a, const auto& b) { return reuse(a) > reuse(b); });
  if (blocks.size() > 4) blocks.resize(4);
  std::vector<Finish> out;
  for (const auto& [rows, columns] : blocks) {
    const int64_t row_bytes = columns * tile.columns * bytes_of(tile.b);
    std::vector<std::vector<ScheduleStep>> cuts;
    for (const int64_t deep : depths(l.depth, row_bytes, group_depth, levels))
      if (deep == l.depth || !l.begun) cuts.push_back(depth_cut(l, deep));
    if (std::vector<ScheduleStep> wide = width_cut(l, tile, levels); !wide.empty())
      cuts.push_back(std::move(wide));
    for (std::vector<ScheduleStep>& cut : cuts) {
      Finish f{"tiles " + std::to_string(rows) + "x" + std::to_string(columns), std::move(cut),
               true};
      f.steps.push_back(
          {"tile_block",
           {Value(l.i), Value(l.j), Value(l.k), Value(rows), Value(columns), Value(instructions)},
           {}});
      if (rests)
        f.steps.push_back({"dot_block",
                           {Value(l.i), Value(l.j), Value(l.k), Value(tile.rows), Value(int64_t{1}),
                            Value(target.vector_memory), Value(instructions)},
                           {}});
      for (const MemoryPtr& memory : {tile.memory, target.vector_memory})
        f.steps.push_back({"unroll_registers", {Value(memory)}, {}});
      out.push_back(std::move(f));
    }
  }
  return out;
}

}  // namespace

std::vector<Finish> dot_tiles_of(const ProcPtr& p, const Target& target,
                                 const std::vector<TargetLevel>& levels,
                                 const ValueList& instructions) {
  const std::vector<const For*> loops = perfect_loops(*p);
  if (loops.size() < 3 || !target.vector_memory) return {};
  const For &rows = *loops[loops.size() - 3], &columns = *loops[loops.size() - 2],
            &sum = *loops.back();
  const std::string i = rows.iter.name(), j = columns.iter.name(), k = sum.iter.name();
  const std::vector<ProcPtr> all = procs_of(instructions);
  const auto dot = dot_instruction_at(p, i, j, k, all);
  const auto tile = tile_instruction_at(p, i, j, k, all);
  const std::optional<int64_t> height = literal_extent(rows), width = literal_extent(columns),
                               depth = literal_extent(sum);
  if ((!dot && !tile) || !height || !width || !depth || *height < 1) return {};
  const Reduce* result = sum.body.back()->as<Reduce>();
  const ProductLoops product{i, j, k, *height, *width, *depth, columns.body.size() > 1};
  std::vector<Finish> out;
  if (tile) out = whole_tiles_of(product, *tile, dot, target, levels, instructions);
  if (!dot) return out;
  const int64_t registers = target.vector_memory->count;
  // Wide tiles first: a loaded group serves all its vectors. Each takes all the registers there
  // are.
  for (const int64_t vectors : {4, 3, 2, 1}) {
    // The sums, a row of the operand, the group for all lanes and the product on its way.
    const int64_t most_rows = (registers - 2 - vectors) / vectors;
    if (most_rows < 2 || (vectors - 1) * dot->lanes >= *width) continue;
    const int64_t high = ceil_div(*height, ceil_div(*height, most_rows));
    const int64_t row_bytes = vectors * dot->lanes * bytes_of(dot->w);
    for (const int64_t deep : depths(*depth, row_bytes, dot->group, levels)) {
      // What begins the sums stands in front of the whole depth; other plans have it apart.
      if (deep < *depth && product.begun) continue;
      Finish f{"dot " + std::to_string(high) + "x" + std::to_string(vectors),
               depth_cut(product, deep), true};
      f.steps.push_back({"dot_block",
                         {Value(i), Value(j), Value(k), Value(high), Value(vectors),
                          Value(target.vector_memory), Value(instructions)},
                         {}});
      const ScheduleStep unrolled{"unroll_registers", {Value(target.vector_memory)}, {}};
      out.push_back(f);
      out.back().steps.push_back(unrolled);
      // The next rows' results come while these are summed. Only of many tiles is that worth a
      // trial.
      if (!result || high == *height) continue;
      f.name += " ahead";
      f.steps.push_back(
          {"prefetch_meanwhile", {Value(i + "o"), Value(k), Value(result->name.name())}, {}});
      f.steps.push_back(unrolled);
      out.push_back(std::move(f));
    }
  }
  return out;
}

bool has_dot_instruction(ScalarType sum, const ValueList& instructions) {
  const std::vector<ProcPtr> all = procs_of(instructions);
  const auto sums = [&](const auto& instr) { return instr.sum == sum; };
  const std::vector<DotInstr> dots = dot_instructions(all);
  const std::vector<TileInstr> tiles = tile_instructions(all);
  return std::any_of(dots.begin(), dots.end(), sums) ||
         std::any_of(tiles.begin(), tiles.end(), sums);
}

}  // namespace exotune
