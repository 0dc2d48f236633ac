#include "search/moves/dot_tiles.h"

#include <algorithm>

#include "core/library/dot_block.h"
#include "core/library/inspection.h"
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

}  // namespace

std::vector<Finish> dot_tiles_of(const ProcPtr& p, const Target& target,
                                 const std::vector<TargetLevel>& levels,
                                 const ValueList& instructions) {
  const std::vector<const For*> loops = perfect_loops(*p);
  if (loops.size() < 3 || !target.vector_memory) return {};
  const For &rows = *loops[loops.size() - 3], &columns = *loops[loops.size() - 2],
            &sum = *loops.back();
  const std::string i = rows.iter.name(), j = columns.iter.name(), k = sum.iter.name();
  const auto dot = dot_instruction_at(p, i, j, k, procs_of(instructions));
  const std::optional<int64_t> height = literal_extent(rows), width = literal_extent(columns),
                               depth = literal_extent(sum);
  if (!dot || !height || !width || !depth || *height < 1) return {};
  const Reduce* result = sum.body.back()->as<Reduce>();
  std::vector<Finish> out;
  const int64_t registers = target.vector_memory->count;
  // Wide tiles first: a loaded group serves all its vectors. Each takes all the registers there
  // are.
  for (const int64_t vectors : {4, 3, 2, 1}) {
    // The sums, a row of the operand, the group for all lanes and the product on its way.
    const int64_t most_rows = (registers - 2 - vectors) / vectors;
    if (most_rows < 2 || (vectors - 1) * dot->lanes >= *width) continue;
    const int64_t tile = ceil_div(*height, ceil_div(*height, most_rows));
    const int64_t row_bytes = vectors * dot->lanes * bytes_of(dot->w);
    for (const int64_t deep : depths(*depth, row_bytes, dot->group, levels)) {
      // What begins the sums stands in front of the whole depth; other plans have it apart.
      if (deep < *depth && columns.body.size() > 1) continue;
      Finish f{"dot " + std::to_string(tile) + "x" + std::to_string(vectors), {}, true};
      if (deep < *depth)
        f.steps.push_back({"block_loop",
                           {Value(k), Value::ints({deep}), Value::strings({k + "o", k}), Value(i)},
                           {}});
      f.steps.push_back({"dot_block",
                         {Value(i), Value(j), Value(k), Value(tile), Value(vectors),
                          Value(target.vector_memory), Value(instructions)},
                         {}});
      const ScheduleStep unrolled{"unroll_registers", {Value(target.vector_memory)}, {}};
      out.push_back(f);
      out.back().steps.push_back(unrolled);
      // The next rows' results come while these are summed. Only of many tiles is that worth a
      // trial.
      if (!result || tile == *height) continue;
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
  const std::vector<DotInstr> dots = dot_instructions(procs_of(instructions));
  return std::any_of(dots.begin(), dots.end(), [&](const DotInstr& d) { return d.sum == sum; });
}

}  // namespace exotune
