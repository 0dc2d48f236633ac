#include "search/dp/actions.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"

namespace exotune {

using Visit = std::function<void(const Expansion&)>;

std::string DpRules::str() const {
  std::string text = "relayout" + std::to_string(static_cast<int>(relayout)) +
                     (powers_of_two_only ? " pow2" : " mixed") + (strips ? " strips" : "") +
                     (outermost_first ? " outermost-first" : "") + (tiles_in_steps ? " steps" : "");
  for (const uint32_t t : tiles) text += " " + std::to_string(t);
  return text;
}

DpRules paper_rules() {
  DpRules rules;
  rules.relayout = Relayout::kAlways;
  return rules;
}

DpRules search_rules() {
  DpRules rules;
  rules.relayout = Relayout::kOnceForAll;
  rules.outermost_first = true;
  rules.tiles_in_steps = true;
  return rules;
}

// The kernels that can end a Spec of this kind, and the kinds it can become.
struct ActionSpace::KindFacts {
  std::vector<int> kernels;  // whose statement and types are this kind's
  int accumulating = -1;     // kind; for "init" forms
  int fill = -1;
};

// Units that a plan ending in this kernel costs at least.
struct ActionSpace::Ending {
  double per_execution = 0;
  std::array<double, kMaxOperands>
      per_element{};     // to bring the operand to where the kernel takes it
  uint32_t vectors = 0;  // operands that must have one register width
};

ActionSpace::~ActionSpace() = default;

ActionSpace::ActionSpace(const DpMachine& machine, const DpRules& rules, SpecKinds& kinds,
                         LayoutPool& layouts)
    : machine_(machine),
      rules_(rules),
      kinds_(kinds),
      layouts_(layouts),
      codes_(machine),
      cost_(machine, kinds, layouts) {
  const int n = static_cast<int>(machine.levels.size());
  for (int i = 0; i < n && rules.relayout != Relayout::kNever; ++i)
    for (const int to : machine.levels[i].destinations)
      if (to == i && !machine.levels[i].vectors.empty()) registers_relayout_ = true;
  for (int i = 0; i < n; ++i) reachable_.push_back(1u << i);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < n; ++i)
      for (const int to : machine.levels[i].destinations) {
        const uint32_t all = reachable_[i] | reachable_[to];
        changed = changed || all != reachable_[i];
        reachable_[i] = all;
      }
  }
}

const ActionSpace::KindFacts& ActionSpace::facts(int kind) {
  if (static_cast<size_t>(kind) >= facts_.size()) facts_.resize(kind + 1);
  if (facts_[kind]) return *facts_[kind];
  auto f = std::make_unique<KindFacts>();
  const SpecKind k = kinds_.at(kind);
  std::string statement = k.statement;
  if (statement.starts_with("init ")) {
    f->accumulating = kinds_.accumulating(kind);
    f->fill = kinds_.fill(static_cast<int>(k.operands.back().subscripts.size()),
                          k.operands.back().type, k.initial);
    statement = statement.substr(5);
  }
  for (size_t i = 0; i < machine_.kernels.size(); ++i) {
    const DpKernel& kernel = machine_.kernels[i];
    if (kernel.is_statement()) {
      if (kernel.copies_only && statement != "= $0") continue;
      f->kernels.push_back(static_cast<int>(i));
      continue;
    }
    if (kernel.kind.statement != statement || kernel.kind.operands.size() != k.operands.size())
      continue;
    bool types = true;
    for (const std::vector<int>& order : kernel.kind.symmetries)
      for (int o = 0; o <= k.output(); ++o)
        types =
            types && kernel.kind.operands[o < k.output() ? order[o] : o].type == k.operands[o].type;
    if (types) f->kernels.push_back(static_cast<int>(i));
  }
  facts_[kind] = std::move(f);
  return *facts_[kind];
}

// Units for one execution of the statement by the kernel, at least: as many vectors at once as its
// registers hold.
double ActionSpace::kernel_rate(const DpKernel& kernel, const SpecKind& kind) const {
  double executions = 1, rate = static_cast<double>(kernel.per_element);
  bool symbolic = false;
  for (const int64_t e : kernel.extents) {
    symbolic = symbolic || e == 0;
    if (e > 0) executions *= static_cast<double>(e);
  }
  if (kernel.is_statement()) return rate;
  if (!symbolic) return rate + static_cast<double>(kernel.base) / executions;
  int widest = static_cast<int>(kernel.strip);
  int64_t registers = INT32_MAX;
  for (size_t level = 0; level < machine_.levels.size(); ++level) {
    const DpLevel& l = machine_.levels[level];
    if (l.vectors.empty()) continue;
    int operands = 0;
    for (const uint32_t levels : kernel.levels) operands += levels == (1u << level);
    if (operands > 0)
      registers = std::min(registers, (l.capacity - kernel.registers[level]) / operands);
    if (kernel.strip == 0 && operands > 0)
      for (const int bytes : l.vectors)
        widest = std::max(widest, bytes / bytes_of(kind.operands[0].type));
  }
  if (kernel.max_vectors > 0) registers = std::min(registers, kernel.max_vectors);
  if (kernel.per_vector != 0 && widest > 0) rate += static_cast<double>(kernel.per_vector) / widest;
  if (widest > 0 && registers < INT32_MAX)
    rate += static_cast<double>(kernel.base) / (static_cast<double>(registers) * widest);
  return rate;
}

double ActionSpace::copy_rate(ScalarType type) {
  const auto it = copy_rates_.find(type);
  if (it != copy_rates_.end()) return it->second;
  const SpecKind kind = kinds_.at(kinds_.move(1, type));
  double best = 1e30;
  for (const int i : facts(kinds_.move(1, type)).kernels)
    best = std::min(best, kernel_rate(machine_.kernels[i], kind));
  return copy_rates_[type] = best >= 1e30 ? 0 : best;
}

void ActionSpace::find_endings(const Spec& spec, const KindFacts& f, std::vector<Ending>& into) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const int n = static_cast<int>(machine_.levels.size());
  for (const int number : f.kernels) {
    const DpKernel& kernel = machine_.kernels[number];
    for (const std::vector<int>& order :
         kernel.is_statement() ? kind.symmetries : kernel.kind.symmetries) {
      Ending ending;
      ending.per_execution = kernel_rate(kernel, kind);
      bool possible = true;
      for (int i = 0; i <= kind.output() && possible; ++i) {
        const uint32_t levels = kernel.levels_of(i < kind.output() ? order[i] : i);
        const int bytes = bytes_of(kind.operands[i].type);
        const bool output = i == kind.output();
        const int copies = output ? (kind.accumulates ? 2 : 1) : 1;
        // The cheapest way from each level to one that the kernel takes the operand from.
        std::vector<double> need(n, 1e30);
        for (int l = 0; l < n; ++l)
          if (levels >> l & 1) need[l] = 0;
        for (int round = 0; round < n; ++round)
          for (int l = 0; l < n; ++l)
            for (const int to : machine_.levels[l].destinations) {
              double step =
                  static_cast<double>(machine_.levels[l].cost + machine_.levels[to].cost) * bytes /
                  machine_.line_bytes;
              if (!machine_.levels[to].cache) step += copies * copy_rate(kind.operands[i].type);
              if (to != l) need[l] = std::min(need[l], need[to] + step);
            }
        ending.per_element[i] = need[spec.operands[i].level];
        possible = ending.per_element[i] < 1e30;
        bool vector = true;  // every level it may be taken from has registers of a width
        for (int l = 0; l < n; ++l)
          if ((levels >> l & 1) && machine_.levels[l].vectors.empty()) vector = false;
        if (vector) ending.vectors |= 1u << i;
      }
      if (!kernel.same_vectors || registers_relayout_) ending.vectors = 0;
      if (possible) into.push_back(ending);
    }
  }
}

const std::vector<ActionSpace::Ending>& ActionSpace::endings(const Spec& spec) {
  static_assert(kMaxLevels <= 8);
  size_t key = spec.kind;
  for (const OperandState& o : spec.operands) key = key * 8 + o.level;
  if (key >= endings_.size()) endings_.resize(key + 1);
  if (!endings_[key]) {
    auto found = std::make_unique<std::vector<Ending>>();
    find_endings(spec, facts(spec.kind), *found);
    endings_[key] = std::move(found);
  }
  return *endings_[key];
}

int64_t ActionSpace::floor(const Spec& spec) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const std::vector<Ending>& endings = this->endings(spec);
  if (endings.empty()) return kNoCost;
  double executions = 1;
  for (int d = 0; d < kind.dims(); ++d) executions *= spec.extents[d];
  std::array<double, kMaxOperands> elements;
  const int operands = kind.output() + 1;
  for (int i = 0; i < operands; ++i)
    elements[i] =
        static_cast<double>(operand_shape(kind.operands[i], spec.extents.data()).volume());
  double best = 1e300;
  for (const Ending& e : endings) {
    // Registers that cannot be rearranged must hold vectors of one width along one loop.
    int width = 0, loop = -1;
    bool fits = true;
    for (int i = 0; i < operands && fits; ++i) {
      const int vector = spec.operands[i].vector;
      if (!(e.vectors >> i & 1) || vector == 0) continue;
      fits = width == 0 || width == vector;
      width = vector;
      const TensorLayout& layout = layouts_.at(spec.operands[i].layout);
      if (layout.rank == 0) continue;
      const Subscript& inner = kind.operands[i].subscripts[layout.dims[layout.rank - 1].dim];
      const int along = inner.size() == 1 ? inner[0].dim : -1;
      fits = fits && layout.contiguous > 0 && (loop < 0 || loop == along);
      loop = along;
    }
    if (!fits) continue;
    double units = executions * e.per_execution;
    for (int i = 0; i < operands; ++i) units += elements[i] * e.per_element[i];
    best = std::min(best, units);
  }
  if (best >= 1e300) return kNoCost;
  return static_cast<int64_t>(best * (1 - 1e-9));
}

void ActionSpace::canonicalise(Spec& spec) {
  if (rules_.relaxed) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  bool same = kind.statement == "= $0" && kind.operands[0].type == kind.operands[1].type &&
              spec.operands[0].layout == spec.operands[1].layout;
  if (!same) return;
  if (!layouts_.at(spec.operands[0].layout).is_contiguous()) return;
  const OperandShape shape = operand_shape(kind.operands[0], spec.extents.data());
  const uint16_t plain = layouts_.id(TensorLayout::row_major(shape));
  for (int i = 0; i < 2; ++i)
    if (machine_.levels[spec.operands[i].level].layouts) spec.operands[i].layout = plain;
}

void ActionSpace::canonicalise(const Spec& spec, Limits& limits) const {
  uint32_t used = 0;
  const size_t operands = kinds_.at(spec.kind).operands.size();
  for (size_t i = 0; i < operands; ++i) used |= reachable_[spec.operands[i].level];
  for (size_t level = 0; level < machine_.levels.size(); ++level)
    if (!(used >> level & 1)) limits.codes[level] = 0;
}

// --- kernels ------------------------------------------------------------------------------------

namespace {

// An operand's subscripts without the loops that run once.
void reduced(const OperandKind& operand, const uint32_t* extents, std::vector<Subscript>& out) {
  out.clear();
  for (const Subscript& s : operand.subscripts) {
    Subscript kept;
    for (const SubscriptTerm& t : s)
      if (extents[t.dim] != 1) kept.push_back(t);
    if (!kept.empty()) out.push_back(std::move(kept));
  }
}

bool all_ones(const Spec& spec, int dims) {
  return std::all_of(spec.extents.begin(), spec.extents.begin() + dims,
                     [](uint32_t e) { return e == 1; });
}

}  // namespace

namespace {

bool extent_fits(const DpKernel& kernel, int loop, int64_t extent) {
  const int64_t wanted = kernel.extents[loop];
  return wanted > 0 ? extent == wanted : extent % kernel.multiples[loop] == 0;
}

}  // namespace

bool ActionSpace::applies(const DpKernel& kernel, const Spec& spec) const {
  const SpecKind& kind = kinds_.at(spec.kind);
  const int dims = kind.dims();
  const bool scalar = all_ones(spec, dims);
  const int output = kind.output();
  if (kernel.is_statement()) {
    for (int i = 0; i <= output && scalar; ++i)
      if (!(kernel.levels_of(i) >> spec.operands[i].level & 1)) return false;
    return scalar;
  }

  // Contiguity, register widths.
  int vector = 0;
  int64_t vectors = 0;
  for (int i = 0; i <= output; ++i) {
    const OperandState& o = spec.operands[i];
    if (!scalar && !layouts_.at(o.layout).is_contiguous()) return false;
    if (o.vector == 0) continue;
    const int64_t volume = operand_shape(kind.operands[i], spec.extents.data()).volume();
    if (volume % o.vector != 0) return false;
    if (vector != 0 && vector != o.vector && kernel.same_vectors) return false;
    if (kernel.strip > 0 && o.vector != kernel.strip) return false;
    if (vector == 0) vector = o.vector;
    vectors = std::max(vectors, volume / o.vector);
  }
  if (kernel.max_vectors > 0 && vectors > kernel.max_vectors) return false;

  // Elements side by side in one order are one long row.
  const bool flat =
      kind.is_elementwise() && kernel.kind.is_elementwise() && kernel.kind.dims() == 1;
  if (flat || kind.statement == "= $0")
    for (int i = 1; i <= output; ++i)
      if (spec.operands[i].layout != spec.operands[0].layout && !rules_.relaxed) return false;

  for (const std::vector<int>& order : kernel.kind.symmetries) {
    bool matches = true;
    const auto from = [&](int i) { return i < output ? order[i] : i; };
    for (int i = 0; i <= output && matches; ++i)
      matches = kernel.levels[from(i)] >> spec.operands[i].level & 1;
    if (!matches) continue;
    if (flat) {
      int64_t volume = 1;
      for (int d = 0; d < dims; ++d) volume *= spec.extents[d];
      if (extent_fits(kernel, 0, volume)) return true;
      continue;
    }
    // Loops of the kernel to loops of the Spec, by what the operands' subscripts say.
    std::array<uint32_t, kMaxDims> kernel_extents{};
    for (int d = 0; d < kernel.kind.dims(); ++d)
      kernel_extents[d] = kernel.extents[d] == 0 ? 0 : static_cast<uint32_t>(kernel.extents[d]);
    std::array<int, kMaxDims> loop_of;
    std::array<int, kMaxDims> back;
    loop_of.fill(-1);
    back.fill(-1);
    std::vector<Subscript> mine, theirs;
    for (int i = 0; i <= output && matches; ++i) {
      reduced(kind.operands[i], spec.extents.data(), mine);
      reduced(kernel.kind.operands[from(i)], kernel_extents.data(), theirs);
      // A symbolic loop may run once: its subscript is then absent here.
      if (mine.size() != theirs.size()) {
        matches = false;
        break;
      }
      for (size_t s = 0; s < mine.size() && matches; ++s) {
        if (mine[s].size() != theirs[s].size()) {
          matches = false;
          break;
        }
        for (size_t t = 0; t < mine[s].size() && matches; ++t) {
          const int a = mine[s][t].dim, b = theirs[s][t].dim;
          matches = mine[s][t].coefficient == theirs[s][t].coefficient &&
                    (loop_of[b] == -1 || loop_of[b] == a) && (back[a] == -1 || back[a] == b);
          loop_of[b] = a;
          back[a] = b;
        }
      }
    }
    if (!matches) continue;
    for (int d = 0; d < kernel.kind.dims() && matches; ++d) {
      if (kernel.extents[d] == 1) continue;
      if (loop_of[d] < 0) {
        matches = false;
        break;
      }
      const uint32_t extent = spec.extents[loop_of[d]];
      matches =
          kernel.extents[d] > 0 ? extent == kernel.extents[d] : extent % kernel.multiples[d] == 0;
    }
    for (int d = 0; d < dims && matches; ++d) matches = spec.extents[d] == 1 || back[d] >= 0;
    if (matches) return true;
  }
  return false;
}

void ActionSpace::expand_select(const Spec& spec, const Limits& limits, const Visit& visit) {
  for (const int i : facts(spec.kind).kernels) {
    const DpKernel& kernel = machine_.kernels[i];
    if (!kinds_.at(spec.kind).accumulates && kernel.kind.accumulates) continue;  // an "init" form
    Expansion e;
    bool fits = true;
    for (size_t level = 0; level < machine_.levels.size(); ++level) {
      e.used.codes[level] = codes_.up(static_cast<int>(level), kernel.registers[level]);
      fits = fits && e.used.codes[level] <= limits.codes[level];
    }
    if (!fits || !applies(kernel, spec)) continue;
    e.action = {ActionKind::kSelect, static_cast<uint8_t>(i), {}, 0};
    e.own_cost = cost_.kernel(kernel, spec);
    visit(e);
  }
}

void ActionSpace::expand_initialise(const Spec& spec, const Limits& limits, const Visit& visit) {
  const KindFacts& f = facts(spec.kind);
  if (f.accumulating < 0) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  const OperandState& out = spec.operands[kind.output()];
  const OperandShape shape = operand_shape(kind.operands[kind.output()], spec.extents.data());
  Expansion e;
  e.action.kind = ActionKind::kInitialise;
  e.parts = 2;
  Spec fill;
  fill.kind = static_cast<uint16_t>(f.fill);
  std::copy_n(shape.extents.begin(), shape.rank, fill.extents.begin());
  fill.operands[0] = out;
  fill.relayouted = spec.relayouted >> kind.output() & 1;
  Spec body = spec;
  body.kind = static_cast<uint16_t>(f.accumulating);
  e.part[0] = {fill, limits, 1};
  e.part[1] = {body, limits, 1};
  visit(e);
}

// --- tiles --------------------------------------------------------------------------------------

const std::vector<uint32_t>& ActionSpace::tile_sizes(uint32_t extent) {
  const auto it = tile_sizes_.find(extent);
  if (it != tile_sizes_.end()) return it->second;
  std::vector<uint32_t> sizes;
  for (uint32_t s = 1; s < extent; s *= 2) {
    sizes.push_back(s);
    if (!rules_.powers_of_two_only && 3 * s < extent) sizes.push_back(3 * s);
  }
  for (const uint32_t s : rules_.tiles)
    if (s < extent) sizes.push_back(s);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (rules_.tiles_in_steps) {
    std::vector<uint32_t> largest;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (std::none_of(sizes.begin() + static_cast<long>(i) + 1, sizes.end(),
                       [&](uint32_t larger) { return larger % sizes[i] == 0; }))
        largest.push_back(sizes[i]);
    sizes = std::move(largest);
  }
  return tile_sizes_[extent] = sizes;
}

bool ActionSpace::tile(const Spec& spec, int dim, uint32_t size, Spec& out) {
  const SpecKind& kind = kinds_.at(spec.kind);
  out = spec;
  out.extents[dim] = size;
  for (size_t i = 0; i < kind.operands.size(); ++i) {
    OperandState& o = out.operands[i];
    const OperandShape before = operand_shape(kind.operands[i], spec.extents.data());
    const OperandShape after = operand_shape(kind.operands[i], out.extents.data());
    if (o.vector && after.volume() % o.vector != 0) return false;
    if (!machine_.levels[o.level].layouts || before.extents == after.extents) continue;
    const std::optional<TensorLayout> layout = layouts_.at(o.layout).tiled(before, after);
    if (!layout) return false;
    o.layout = layouts_.id(*layout);
  }
  canonicalise(out);
  return true;
}

void ActionSpace::expand_tiles(const Spec& spec, const Limits& limits, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  for (int dim = 0; dim < kind.dims(); ++dim) {
    const uint32_t extent = spec.extents[dim];
    if (extent == 1 || (kind.reduction[dim] && !kind.accumulates)) continue;
    for (const uint32_t size : tile_sizes(extent)) {
      Expansion e;
      e.action = {ActionKind::kTile, static_cast<uint8_t>(dim), {}, size};
      if (!tile(spec, dim, size, e.part[0].spec)) continue;
      e.part[0].limits = limits;
      e.part[0].times = extent / size;
      e.parts = 1;
      if (extent % size != 0) {
        if (!tile(spec, dim, extent % size, e.part[1].spec)) continue;
        e.part[1].limits = limits;
        e.parts = 2;
      }
      visit(e);
    }
  }
}

// --- moves --------------------------------------------------------------------------------------

// Row and column order (of more dimensions: each order that keeps all but one in place), each also
// with one strip on the outermost dimension.
const std::vector<uint16_t>& ActionSpace::destination_layouts(const OperandShape& shape,
                                                              ScalarType type) {
  uint64_t key = static_cast<uint64_t>(type) * 8 + shape.rank;
  for (int d = 0; d < shape.rank; ++d) key = hash_combine(key, shape.extents[d]);
  const auto it = destinations_.find(key);
  if (it != destinations_.end()) return it->second;
  return destinations_[key] = find_destination_layouts(shape, type);
}

std::vector<uint16_t> ActionSpace::find_destination_layouts(const OperandShape& shape,
                                                            ScalarType type) {
  if (rules_.relaxed) return {shape.volume() == 1 ? LayoutPool::kEmpty : LayoutPool::kAny};
  std::vector<TensorLayout> base{TensorLayout::row_major(shape)};
  const int rank = shape.rank;
  for (int moved = 0; moved + 1 < rank; ++moved) {  // `moved` becomes the innermost
    std::vector<int> order;
    for (int d = 0; d < rank; ++d)
      if (d != moved) order.push_back(d);
    order.push_back(moved);
    const TensorLayout layout = TensorLayout::ordered(order, shape);
    if (std::find(base.begin(), base.end(), layout) == base.end()) base.push_back(layout);
  }
  std::vector<uint16_t> out;
  for (const TensorLayout& layout : base) out.push_back(layouts_.id(layout));
  if (!rules_.strips) return out;
  std::vector<uint32_t> strips{2};
  for (const int bytes : machine_.strip_bytes)
    if (bytes % bytes_of(type) == 0) strips.push_back(bytes / bytes_of(type));
  for (const uint32_t tile : rules_.tiles) strips.push_back(tile);
  std::sort(strips.begin(), strips.end());
  strips.erase(std::unique(strips.begin(), strips.end()), strips.end());
  for (const TensorLayout& layout : base)
    for (int i = 0; i + 1 < layout.rank; ++i)
      for (const uint32_t strip : strips) {
        const uint32_t extent = shape.extents[layout.dims[i].dim];
        if (strip >= extent || extent % strip != 0 || layout.rank == kMaxPhysical) continue;
        TensorLayout packed = layout;
        packed.dims[packed.rank++] = {layout.dims[i].dim, static_cast<uint16_t>(strip)};
        packed.contiguous = packed.rank;
        out.push_back(layouts_.id(packed));
      }
  return out;
}

// Into memory as it lies, into registers in the same order.
bool ActionSpace::keeps(uint16_t from, uint16_t to, const DpLevel& level) const {
  if (!level.registers) return from == to;
  const TensorLayout &a = layouts_.at(from), &b = layouts_.at(to);
  return a.rank == b.rank && a.dims == b.dims;
}

void ActionSpace::expand_moves(const Spec& spec, const Limits& limits, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  uint8_t outermost = 0;
  for (int i = 0; i <= kind.output(); ++i) outermost = std::max(outermost, spec.operands[i].level);
  for (int i = 0; i <= kind.output(); ++i) {
    const OperandState from = spec.operands[i];
    if (rules_.outermost_first && from.level != outermost) continue;
    const OperandShape shape = operand_shape(kind.operands[i], spec.extents.data());
    const int64_t volume = shape.volume();
    const std::vector<uint16_t>* layouts = nullptr;
    for (const int to : machine_.levels[from.level].destinations) {
      const DpLevel& level = machine_.levels[to];
      const bool same_level = to == from.level;
      const bool spent = spec.relayouted >> i & 1;
      if (same_level &&
          (rules_.relayout == Relayout::kNever || (rules_.relayout != Relayout::kAlways && spent)))
        continue;
      const bool keeps_order =
          rules_.relayout == Relayout::kOnceForAll && spent && machine_.levels[from.level].layouts;
      if (codes_.amount(to, limits.codes[to]) == 0) continue;
      OperandState state;
      state.level = static_cast<uint8_t>(to);
      if (!level.layouts) {
        expand_move(spec, limits, i, state, visit);
        continue;
      }
      if (!layouts) layouts = &destination_layouts(shape, kind.operands[i].type);
      const bool own = level.cache && !same_level && machine_.levels[from.level].layouts &&
                       std::find(layouts->begin(), layouts->end(), from.layout) == layouts->end();
      for (size_t l = 0; l < layouts->size() + (own ? 1 : 0); ++l) {
        state.layout = l < layouts->size() ? (*layouts)[l] : from.layout;
        if (keeps_order && !keeps(from.layout, state.layout, level)) continue;
        state.vector = 0;
        if (level.vectors.empty()) expand_move(spec, limits, i, state, visit);
        for (const int bytes : level.vectors) {
          if (bytes % bytes_of(kind.operands[i].type) != 0) continue;
          const int lanes = bytes / bytes_of(kind.operands[i].type);
          if (volume % lanes != 0) continue;
          state.vector = static_cast<uint8_t>(lanes);
          expand_move(spec, limits, i, state, visit);
        }
      }
    }
  }
}

void ActionSpace::expand_move(const Spec& spec, const Limits& limits, int operand,
                              const OperandState& to, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const OperandState& from = spec.operands[operand];
  if (from == to) return;
  const OperandKind& what = kind.operands[operand];
  const OperandShape shape = operand_shape(what, spec.extents.data());
  const int64_t amount = cost_.amount(to, shape, what.type);
  const int64_t available = codes_.amount(to.level, limits.codes[to.level]);
  if (amount > available) return;
  const bool same_level = from.level == to.level;
  const bool touched_only = machine_.levels[to.level].cache && from.layout == to.layout;

  Expansion e;
  e.action = {ActionKind::kMove, static_cast<uint8_t>(operand), to, 0};
  e.own_cost = cost_.touch(from, shape, what.type) + cost_.touch(to, shape, what.type);
  e.allocated_level = to.level;
  e.allocated = amount;
  Limits left = limits;
  left.codes[to.level] = codes_.down(to.level, available - amount);

  const bool is_output = operand == kind.output();
  const bool once = rules_.relayout == Relayout::kOnce;
  const bool once_for_all = rules_.relayout == Relayout::kOnceForAll;
  const auto copy = [&](const OperandState& source, const OperandState& target) {
    Spec move;
    move.kind = static_cast<uint16_t>(kinds_.move(shape.rank, what.type));
    std::copy_n(shape.extents.begin(), shape.rank, move.extents.begin());
    move.operands[0] = source;
    move.operands[1] = target;
    if (once_for_all || (once && same_level)) move.relayouted = 3;
    canonicalise(move);
    e.part[e.parts++] = {move, left, 1};
  };
  if (!touched_only && (!is_output || kind.accumulates)) copy(from, to);
  SubSpec& body = e.part[e.parts++];
  body = {spec, left, 1};
  body.spec.operands[operand] = to;
  const uint8_t bit = static_cast<uint8_t>(1u << operand);
  if (once_for_all && !machine_.levels[to.level].registers && from.layout != to.layout)
    body.spec.relayouted |= bit;
  if (once) {
    body.spec.relayouted = same_level ? body.spec.relayouted | bit : body.spec.relayouted & ~bit;
  }
  canonicalise(body.spec);
  if (!touched_only && is_output) copy(to, from);
  visit(e);
}

void ActionSpace::expand(const Spec& spec, const Limits& limits, const Visit& visit) {
  expand_select(spec, limits, visit);
  expand_initialise(spec, limits, visit);
  expand_tiles(spec, limits, visit);
  expand_moves(spec, limits, visit);
}

}  // namespace exotune
