#include "search/dp/composition.h"

#include <algorithm>
#include <set>

#include "core/library/stages.h"
#include "search/dp/replay.h"
#include "search/steps/builders.h"

namespace exotune {
// Chains of products (attention, two layers of a network): row tiles run through all parts, so that
// what one part leaves is still in a near cache when the next takes it. The parts' register tiles
// come from the solver, the tile's height from the caches; the steps are made here, since a plan of
// the solver is about one nest.

namespace {

// The nest without the statement that sets its result before the sum; false when there is none.
bool split_initial(Block& body) {
  if (body.size() == 1 && body[0]->as<For>()) {
    const For& loop = *body[0]->as<For>();
    Block inner = loop.body;
    const bool found = split_initial(inner);
    if (found) body[0] = make_for(loop.iter, loop.lo, loop.hi, inner);
    return found;
  }
  if (body.size() != 2 || !body[0]->as<Assign>() || !body[1]->as<For>()) return false;
  body.erase(body.begin());
  return true;
}

// The dimension of the operand's first subscript; -1 when that is no single loop.
int first_dimension(const OperandKind& operand) {
  if (operand.subscripts.empty() || operand.subscripts[0].size() != 1 ||
      operand.subscripts[0][0].coefficient != 1)
    return -1;
  return operand.subscripts[0][0].dim;
}

int input_of(const LiftedNest& nest, Sym buffer) {
  for (size_t i = 0; i + 1 < nest.buffers.size(); ++i)
    if (nest.buffers[i] == buffer) return static_cast<int>(i);
  return -1;
}

}  // namespace

// Each part must be a Spec, and read of the earlier ones what it needs row by row: only then can
// rows be finished one tile at a time.
std::optional<Composition> lift_chain(const Proc& p) {
  Composition out;
  Proc part = p;
  std::set<Sym> made;
  for (const StmtPtr& s : p.body) {
    if (const Alloc* a = s->as<Alloc>()) {
      part.args.push_back({a->name, a->type, a->mem});
      made.insert(a->name);
      continue;
    }
    part.body = {s};
    ChainPart next;
    next.initialised = split_initial(part.body);
    std::optional<LiftedNest> nest = lift_nest(part, true);
    if (!nest || std::count(nest->extents.begin(), nest->extents.end(), 0) > 0) return std::nullopt;
    next.nest = std::move(*nest);
    next.rows = first_dimension(next.nest.kind.operands.back());
    if (next.rows < 0) return std::nullopt;
    if (!out.parts.empty()) {
      const ChainPart& before = out.parts.back();
      const Sym between = before.nest.buffers.back();
      const int at = input_of(next.nest, between);
      // Row by row: the rows that are read are the rows of the result.
      if (at < 0 || !made.count(between) ||
          first_dimension(next.nest.kind.operands[static_cast<size_t>(at)]) != next.rows ||
          before.nest.extents[static_cast<size_t>(before.rows)] !=
              next.nest.extents[static_cast<size_t>(next.rows)])
        return std::nullopt;
      out.intermediates.push_back(between);
    }
    out.parts.push_back(std::move(next));
  }
  if (out.parts.size() < 2) return std::nullopt;
  return out;
}

namespace {

// Sums of products, of which no two name a loop alike: steps tell them apart by it.
bool are_products(const Composition& chain) {
  std::set<std::string> names;
  for (const ChainPart& each : chain.parts) {
    if (each.nest.kind.statement != "+= $0 * $1") return false;
    for (const Sym loop : each.nest.loops)
      if (!names.insert(loop.name()).second) return false;
  }
  return true;
}

class ChainPlanner {
 public:
  ChainPlanner(const Proc& p, const Target& target, const ValueList& instructions,
               const TargetFigures& figures, Composition chain)
      : proc_(p),
        target_(target),
        unit_(target, chain.parts.front().nest.kind.operands.back().type, instructions),
        chain_(std::move(chain)),
        machine_(machine_of(target, figures)),
        space_(machine_, search_rules(), kinds_, layouts_),
        solver_(space_, memo_) {}

  // One plan for each height of tile worth trying; how they compare is measured.
  std::vector<ChainPlan> run() {
    const ChainPart& first = chain_.parts.front();
    const int64_t rows = first.nest.extents[static_cast<size_t>(first.rows)];
    add(0);
    for (const int64_t base : {int64_t{32}, int64_t{48}})
      for (int64_t tile = base; tile < rows && tile <= 2048; tile *= 2)
        if (rows % tile == 0) add(tile);
    std::stable_sort(plans_.begin(), plans_.end(),
                     [](const ChainPlan& a, const ChainPlan& b) { return a.units < b.units; });
    return plans_;
  }

 private:
  struct RegisterTile {
    int64_t rows = 6, columns = 0;
  };

  // The nearest cache of which `bytes` take at most half; else the outermost level.
  int level_for(int64_t bytes) const {
    for (size_t l = 0; l < machine_.levels.size(); ++l)
      if (machine_.levels[l].cache &&
          2 * bytes <= machine_.levels[l].capacity * machine_.line_bytes)
        return static_cast<int>(l);
    return machine_.outermost();
  }

  int64_t bytes_of_operand(const ChainPart& part, const Spec& spec, size_t i) const {
    const OperandKind& operand = part.nest.kind.operands[i];
    return operand_shape(operand, spec.extents.data()).volume() * bytes_of(operand.type);
  }

  void add(int64_t tile) {
    int64_t units = 0, times = 1;
    int level = machine_.outermost();
    std::vector<RegisterTile> tiles;
    for (size_t k = 0; k < chain_.parts.size(); ++k) {
      const ChainPart& part = chain_.parts[k];
      Spec spec = spec_of(part.nest, proc_, space_);
      const auto rows = static_cast<size_t>(part.rows);
      if (tile > 0) {
        times = part.nest.extents[rows] / tile;
        spec.extents[rows] = static_cast<uint32_t>(tile);
      }
      Limits limits = space_.codes().all();
      for (size_t i = 0; i < part.nest.buffers.size(); ++i) {
        const int lies = place(part, i, tile > 0, spec, limits);
        if (is_intermediate(part.nest.buffers[i])) level = lies;
      }
      const std::optional<MemoValue> value = solver_.solve(spec, limits);
      if (!value || value->best.empty()) return;
      units += times * value->best[0].cost.units;
      tiles.push_back(register_tile(solver_.plan(spec, limits), part));
    }
    const std::string name = machine_.levels[static_cast<size_t>(level)].name;
    plans_.push_back({tile, name, units, steps(tile, tiles)});
    std::vector<RegisterTile> usual(tiles.size(), {6, 4 * lanes()});
    if (Steps also = steps(tile, usual); key_of(also) != key_of(plans_.back().steps))
      plans_.push_back({tile, name, units, std::move(also)});
  }

  // Puts the operand where it lies while the part runs, and takes its lines off that cache's limit.
  int place(const ChainPart& part, size_t i, bool tiled, Spec& spec, Limits& limits) {
    const OperandKind& operand = part.nest.kind.operands[i];
    const bool every_tile = tiled && !mentions_loop(operand, part.rows);
    const int64_t bytes = bytes_of_operand(part, spec, i);
    // Rows of other operands pass by once.
    const int lies = is_intermediate(part.nest.buffers[i]) || every_tile ? level_for(bytes)
                                                                         : machine_.outermost();
    spec.operands[i].level = static_cast<uint8_t>(lies);
    spec.operands[i].layout =
        space_.layouts().id(TensorLayout::row_major(operand_shape(operand, spec.extents.data())));
    if (lies == machine_.outermost()) return lies;
    const int64_t lines = (bytes + machine_.line_bytes - 1) / machine_.line_bytes;
    uint8_t& left = limits.codes[static_cast<size_t>(lies)];
    left = space_.codes().down(lies, space_.codes().amount(lies, left) - lines);
    return lies;
  }

  bool is_intermediate(Sym buffer) const {
    return std::find(chain_.intermediates.begin(), chain_.intermediates.end(), buffer) !=
           chain_.intermediates.end();
  }
  static bool mentions_loop(const OperandKind& operand, int loop) {
    for (const Subscript& s : operand.subscripts)
      for (const SubscriptTerm& t : s)
        if (t.dim == loop) return true;
    return false;
  }
  int64_t lanes() const { return unit_.lanes(); }
  static int columns_of(const ChainPart& part) {
    const OperandKind& result = part.nest.kind.operands.back();
    return result.subscripts.back().size() == 1 ? result.subscripts.back()[0].dim : -1;
  }

  // The part's Spec where its result first is in registers.
  RegisterTile register_tile(const PlanNode& plan, const ChainPart& part) const {
    const PlanNode* node = &plan;
    const size_t result = part.nest.kind.operands.size() - 1;
    while (!machine_.levels[node->spec.operands[result].level].registers) {
      const PlanNode* main = nullptr;
      for (const PlanNode& next : node->parts)
        if (next.spec.kind == node->spec.kind &&
            (!main || next.spec.operands[result].level < main->spec.operands[result].level))
          main = &next;
      if (!main) break;
      node = main;
    }
    RegisterTile out;
    const int columns = columns_of(part);
    if (columns < 0) return out;
    out.rows = node->spec.extents[static_cast<size_t>(part.rows)];
    out.columns = node->spec.extents[static_cast<size_t>(columns)];
    const int64_t registers = target_.vector_memory->count;
    if (out.columns % lanes() != 0 || out.rows * (out.columns / lanes()) > registers)
      out = {6, 4 * lanes()};
    return out;
  }

  // Loops of a part by what they do; the sum must be one loop.
  struct Names {
    std::string rows, columns, sum;
    int64_t terms = 0;  // of the sum
  };
  std::optional<Names> names_of(const ChainPart& part) const {
    Names out;
    const int columns = columns_of(part);
    for (int d = 0; d < part.nest.kind.dims(); ++d) {
      std::string& name = d == part.rows                                     ? out.rows
                          : d == columns                                     ? out.columns
                          : part.nest.kind.reduction[static_cast<size_t>(d)] ? out.sum
                                                                             : out.rows;
      if (!name.empty()) return std::nullopt;
      name = part.nest.loops[static_cast<size_t>(d)].name();
      if (&name == &out.sum) out.terms = part.nest.extents[static_cast<size_t>(d)];
    }
    if (out.rows.empty() || out.columns.empty() || out.sum.empty()) return std::nullopt;
    return out;
  }

  // The rows in tiles, each of which goes through all parts. The loops over the rows of the earlier
  // parts are those that compute_and_store_at leaves around what they compute.
  void fuse(int64_t tile, std::vector<Names>& names, const std::string& around, Steps& out) const {
    const size_t last = chain_.parts.size() - 1;
    out.push_back({"divide_loop",
                   {names[last].rows, tile, Value::strings({around, names[last].rows})},
                   {},
                   {{"tail", "perfect"}}});
    for (size_t k = last; k-- > 0;) {
      out.push_back({"compute_and_store_at",
                     {chain_.intermediates[k].name(),
                      chain_.parts[k + 1].nest.buffers.back().name(), around}});
      names[k].rows = loop_of_a_step(names[k].rows);
    }
  }

  // The dimension of the operand that runs along the columns; -1: its last, or none alone.
  static int turned_dimension(const ChainPart& part, const OperandKind& operand) {
    const int columns = columns_of(part), last = static_cast<int>(operand.subscripts.size()) - 1;
    for (int d = 0; d < last; ++d) {
      const Subscript& s = operand.subscripts[static_cast<size_t>(d)];
      if (s.size() == 1 && s[0].dim == columns) return d;
    }
    return -1;
  }

  // What every row of the part multiplies with is packed once, in front of all tiles, and turned
  // where its columns are not its last dimension.
  void pack(const ChainPart& part, const std::string& before, int64_t strip, Steps& out) const {
    for (size_t i = 0; i + 1 < part.nest.buffers.size(); ++i) {
      const OperandKind& operand = part.nest.kind.operands[i];
      if (mentions_loop(operand, part.rows) || operand.subscripts.size() < 2) continue;
      out.push_back(pack_step(part.nest.buffers[i].name(), before, strip, unit_,
                              turned_dimension(part, operand)));
    }
  }

  // Pack, fuse, then the micro-kernels, innermost first; the loops' names are those that the
  // operators leave, which is why no two parts may share one.
  Steps steps(int64_t tile, const std::vector<RegisterTile>& tiles) const {
    Steps out;
    std::vector<Names> names;
    for (const ChainPart& part : chain_.parts) {
      const std::optional<Names> each = names_of(part);
      if (!each) return {};
      names.push_back(*each);
    }
    const std::string around = names.back().rows + "b";
    if (tile > 0) fuse(tile, names, around, out);
    for (size_t k = 0; k < names.size(); ++k) {
      const Names& n = names[k];
      pack(chain_.parts[k], tile > 0 ? around : n.rows, tiles[k].columns, out);
      ScheduleStep strips = block_step(n.columns, tiles[k].columns, n.columns + "o");
      strips.args.emplace_back(n.rows);
      out.push_back(std::move(strips));
      out.push_back(block_step(n.rows, tiles[k].rows, n.rows + "o"));
    }
    for (const Names& n : names)
      out.push_back(
          register_block_step(n.rows, n.columns, n.sum, unit_, lasts_for_asking(n.terms)));
    out.push_back(unroll_registers_step(unit_));
    return out;
  }

  const Proc& proc_;
  const Target& target_;
  const VectorValues unit_;
  Composition chain_;
  DpMachine machine_;
  SpecKinds kinds_;
  LayoutPool layouts_;
  ActionSpace space_;
  BoxMemo memo_;
  SpecSolver solver_;
  std::vector<ChainPlan> plans_;
};

}  // namespace

std::vector<ChainPlan> chain_plans(const Proc& p, const Target& target,
                                   const ValueList& instructions, const TargetFigures& figures) {
  std::optional<Composition> chain = lift_chain(p);
  if (!chain || !target.vector_memory) return {};
  if (!are_products(*chain))
    return row_plans(*chain, target, instructions, machine_of(target, figures));
  return ChainPlanner(p, target, instructions, figures, std::move(*chain)).run();
}

}  // namespace exotune
