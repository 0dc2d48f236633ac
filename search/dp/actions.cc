#include "search/dp/actions.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "search/dp/register_block.h"

namespace exotune {
// How a Spec is split into cheaper questions. Everything here is exact arithmetic on counts: an
// action that does not fit is not visited, one that fits is visited with the cost it adds by
// itself, and the solver adds up the rest. Further parts of the class: tile_actions.cc,
// move_actions.cc, endings.cc, kernel_match.cc.

using Visit = std::function<void(const Expansion&)>;

// Every rule that changes what is tried, or what it costs, must be in this text: it is part of the
// stored memo's identity, and a memo solved under other rules would answer wrongly.
std::string DpRules::str() const {
  const auto list = [](const std::vector<uint32_t>& numbers) {
    std::string out;
    for (const uint32_t n : numbers) out += "," + std::to_string(n);
    return out;
  };
  std::string text =
      "relayout" + std::to_string(static_cast<int>(relayout)) + " x" + list(factors.rows) +
      list(factors.vectors) + list(factors.sums) + (strips ? " strips" : "") +
      (ports ? " ports" : "") + (outermost_first ? " outermost-first" : "") +
      (tiles_in_steps ? " steps" : "") + (parallel_tiles ? " parallel" : "") +
      (one_row_loop ? " one-row-loop" : "") + (whole_taps ? " whole-taps" : "") +
      (copies_inside ? " copies-inside" : "") + (vectors_inside ? " vectors-inside" : "");
  for (const uint32_t t : tiles) text += " " + std::to_string(t);
  return text;
}

// Copies wherever memory allows, as in the paper: the reference that the restricted sets are tested
// against. Its tables grow too fast to search with.
DpRules paper_rules() {
  DpRules rules;
  rules.relayout = Relayout::kAlways;
  return rules;
}

// Each restriction keeps the optimum of the full set on the cases that the tests hold
// (tests/search/dp/rules_test.cc); together they make a product of 512 solvable in a second. Rows
// of 3 and 7 and three vectors are what 32 and 16 registers hold beside powers of two: 7 x 4 and 3
// x 8 of accumulators.
DpRules search_rules() {
  DpRules rules;
  rules.relayout = Relayout::kOnceForAll;
  rules.outermost_first = true;
  rules.tiles_in_steps = true;
  rules.parallel_tiles = true;
  rules.one_row_loop = true;
  rules.whole_taps = true;
  rules.copies_inside = true;
  rules.vectors_inside = true;
  rules.factors.rows = {1, 3, 7};
  rules.factors.vectors = {1, 3};
  return rules;
}

// Reachability is closed over moves between levels: a level that no operand can come to cannot be
// used, so how much of it is free must not tell two questions apart (canonicalise).
ActionSpace::ActionSpace(const DpMachine& machine, const DpRules& rules, SpecKinds& kinds,
                         LayoutPool& layouts)
    : machine_(machine),
      rules_(rules),
      kinds_(kinds),
      layouts_(layouts),
      codes_(machine),
      cost_(machine, kinds, layouts, rules.ports) {
  const int n = static_cast<int>(machine.levels.size());
  for (int i = 0; i < n && rules.relayout != Relayout::kNever; ++i)
    for (const int to : machine.levels[i].destinations)
      if (to == i && !machine.levels[i].vectors.empty()) registers_relayout_ = true;
  for (int i = 0; i < n; ++i) {
    if (machine.levels[i].shared) shared_levels_ |= 1u << i;
    if (machine.levels[i].cost_beside != machine.levels[i].cost) crowded_levels_ |= 1u << i;
    reachable_.push_back(1u << i);
  }
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

// What does not depend on extents is looked up once a kind: which kernels can end it, which loops
// the restrictions are about. A kernel whose statement or types differ is never tried again; the
// inputs of a symmetric statement may come in another order, in one of which the types must agree.
// An "init" form is solved as a fill and the accumulating form: both are kinds of their own, shared
// with every nest that has them.
const ActionSpace::KindFacts& ActionSpace::facts(int kind) {
  if (static_cast<size_t>(kind) >= facts_.size()) facts_.resize(kind + 1);
  if (facts_[kind]) return *facts_[kind];
  auto f = std::make_unique<KindFacts>();
  const SpecKind k = kinds_.at(kind);
  if (!k.is_elementwise())
    for (int d = 0; d < k.dims(); ++d) {
      if (rules_.whole_taps && k.is_tap(d)) f->taps |= 1u << d;
      if (rules_.one_row_loop && !k.reduction[d] && d != k.vector_loop() && d != k.row_loop())
        f->rows_outside |= 1u << d;
    }
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

// Layouts are numbered in the pool of all threads; this table saves its lock.
uint16_t ActionSpace::layout_id(const TensorLayout& layout) {
  const auto [it, fresh] = layout_ids_.try_emplace(layout);
  if (fresh) it->second = layouts_.id(layout);
  return it->second;
}

// Threads that nothing can start, and others that nothing notices, are none.
void ActionSpace::settle_threads(Spec& spec) const {
  if (spec.threads == Threads::kAlone) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  uint32_t levels = 0;
  for (size_t i = 0; i < kind.operands.size(); ++i) levels |= 1u << spec.operands[i].level;
  bool some = (levels & crowded_levels_) != 0;
  if (spec.threads == Threads::kMayStart) {
    some = false;
    for (int d = 0; d < kind.dims(); ++d)
      some = some || (!kind.reduction[d] && spec.extents[d] > 1);
    some = some && rules_.parallel_tiles && machine_.threads > 1 && (levels & ~shared_levels_) == 0;
  }
  if (!some) spec.threads = Threads::kAlone;
}

// Two Specs that mean the same must be one entry of the memo. A copy between two places of one
// contiguous layout moves the same elements whatever that layout is: it counts as row-major.
void ActionSpace::canonicalise(Spec& spec) {
  settle_threads(spec);
  if (rules_.relaxed) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  bool same = kind.statement == "= $0" && kind.operands[0].type == kind.operands[1].type &&
              spec.operands[0].layout == spec.operands[1].layout;
  if (!same) return;
  if (!layouts_.at(spec.operands[0].layout).is_contiguous()) return;
  const OperandShape shape = operand_shape(kind.operands[0], spec.extents.data());
  const uint16_t plain = layout_id(TensorLayout::row_major(shape));
  for (int i = 0; i < 2; ++i)
    if (machine_.levels[spec.operands[i].level].layouts) spec.operands[i].layout = plain;
}

// Free memory in levels that cannot be reached from where the operands are: not part of the
// question.
void ActionSpace::canonicalise(const Spec& spec, Limits& limits) const {
  uint32_t used = 0;
  const size_t operands = kinds_.at(spec.kind).operands.size();
  for (size_t i = 0; i < operands; ++i) used |= reachable_[spec.operands[i].level];
  for (size_t level = 0; level < machine_.levels.size(); ++level)
    if (!(used >> level & 1)) limits.codes[level] = 0;
}

// A kernel ends a Spec when statement, extents and places agree (applies) and its registers are
// free. The registers of a block kernel depend on the extents, so they are counted for this Spec.
void ActionSpace::expand_select(const Spec& spec, const Limits& limits, const Visit& visit) {
  for (const int i : facts(spec.kind).kernels) {
    const DpKernel& kernel = machine_.kernels[i];
    if (!kinds_.at(spec.kind).accumulates && kernel.kind.accumulates) continue;  // an "init" form
    Expansion e;
    if (kernel.block && !applies(kernel, spec)) continue;
    bool fits = true;
    for (size_t level = 0; level < machine_.levels.size(); ++level) {
      const bool beside = kernel.block && (kernel.levels.back() >> level & 1);
      e.used.codes[level] = codes_.up(
          static_cast<int>(level),
          beside ? block_registers(kernel, spec, kinds_.at(spec.kind)) : kernel.registers[level]);
      fits = fits && e.used.codes[level] <= limits.codes[level];
    }
    if (!fits || !applies(kernel, spec)) continue;
    e.action = {ActionKind::kSelect, static_cast<uint16_t>(i), {}, 0};
    e.own_cost = cost_.kernel(kernel, spec);
    visit(e);
  }
}

// Sums start from a value: first the output is filled in a loop of its own, then accumulated into.
// A kernel may also do both at once (expand_select).
void ActionSpace::expand_initialise(const Spec& spec, const Limits& limits, const Visit& visit) {
  const KindFacts& f = facts(spec.kind);
  if (f.accumulating < 0) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  const OperandState& out = spec.operands[kind.output()];
  const OperandShape shape = operand_shape(kind.operands[kind.output()], spec.extents.data());
  Expansion e;
  e.action.kind = ActionKind::kInitialise;
  e.parts = 2;
  e.main = 1;
  Spec fill;
  fill.kind = static_cast<uint16_t>(f.fill);
  std::copy_n(shape.extents.begin(), shape.rank, fill.extents.begin());
  fill.operands[0] = out;
  if (spec.threads == Threads::kBeside) fill.threads = spec.threads;
  settle_threads(fill);
  fill.relayouted = spec.relayouted >> kind.output() & 1;
  Spec body = spec;
  body.kind = static_cast<uint16_t>(f.accumulating);
  e.part[0] = {fill, limits, 1};
  e.part[1] = {body, limits, 1};
  visit(e);
}

// Cheap kinds first: whatever they find bounds what the others are worth.
void ActionSpace::expand(const Spec& spec, const Limits& limits, const Visit& visit) {
  expand_select(spec, limits, visit);
  expand_initialise(spec, limits, visit);
  expand_tiles(spec, limits, visit);
  expand_parallel_tiles(spec, limits, visit);
  expand_moves(spec, limits, visit);
}

}  // namespace exotune
