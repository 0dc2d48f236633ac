// Moves: the layouts that an operand may take elsewhere, and the copies that it costs.
#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "search/dp/actions.h"

namespace exotune {
// A move allocates room in another level (or in its own, with another layout), copies the operand
// there if its elements must lie anew, goes on with the body, and copies back what was written. A
// cache takes what it is near by itself: there a move without a new layout costs the traffic and no
// copy.

using Visit = std::function<void(const Expansion&)>;

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

// The layouts are few on purpose: which dimension is innermost, and strips of a vector's width on
// an outer one. Anything between is reached by tiling first and moving the tile.
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
  for (const TensorLayout& layout : base) out.push_back(layout_id(layout));
  if (!rules_.strips) return out;
  std::vector<uint32_t> strips{2};
  for (const int bytes : machine_.strip_bytes)
    if (bytes % bytes_of(type) == 0) strips.push_back(bytes / bytes_of(type));
  for (const uint32_t tile : rules_.tiles) strips.push_back(tile);
  std::sort(strips.begin(), strips.end());
  strips.erase(std::unique(strips.begin(), strips.end()), strips.end());
  // A strip must divide its dimension: what is left over would need a second layout.
  for (const TensorLayout& layout : base)
    for (int i = 0; i + 1 < layout.rank; ++i)
      for (const uint32_t strip : strips) {
        const uint32_t extent = shape.extents[layout.dims[i].dim];
        if (strip >= extent || extent % strip != 0 || layout.rank == kMaxPhysical) continue;
        TensorLayout packed = layout;
        packed.dims[packed.rank++] = {layout.dims[i].dim, static_cast<uint16_t>(strip)};
        packed.contiguous = packed.rank;
        out.push_back(layout_id(packed));
      }
  return out;
}

// Into memory as it lies, into registers in the same order.
bool ActionSpace::keeps(uint16_t from, uint16_t to, const DpLevel& level) const {
  if (!level.registers) return from == to;
  const TensorLayout &a = layouts_.at(from), &b = layouts_.at(to);
  return a.rank == b.rank && a.dims == b.dims;
}

// An input whose innermost elements, strips included, lie along the vector loop and nothing else.
bool ActionSpace::serves_vectors(const SpecKind& kind, int operand, const TensorLayout& layout) {
  if (operand == kind.output() || layout.rank == 0) return false;
  const OperandKind& what = kind.operands[operand];
  const Subscript& inner = what.subscripts[layout.dims[layout.rank - 1].dim];
  return !what.has_halo() && inner.size() == 1 && inner[0].dim == kind.vector_loop();
}

// Outermost first: blocks are made for one level of the hierarchy after the other, so that the same
// nest of blocks is not reached in every order of moves.
void ActionSpace::expand_moves(const Spec& spec, const Limits& limits, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const bool vectors_inside =
      rules_.vectors_inside && !rules_.relaxed && facts(spec.kind).taps != 0;
  uint8_t outermost = 0;
  for (int i = 0; i <= kind.output(); ++i) outermost = std::max(outermost, spec.operands[i].level);
  for (int i = 0; i <= kind.output(); ++i) {
    const OperandState from = spec.operands[i];
    if (rules_.outermost_first && from.level != outermost) continue;
    const bool spent = spec.relayouted >> i & 1;
    for (const int to : machine_.levels[from.level].destinations) {
      const bool same_level = to == from.level;
      if (same_level &&
          (rules_.relayout == Relayout::kNever || (rules_.relayout != Relayout::kAlways && spent)))
        continue;
      if (codes_.amount(to, limits.codes[to]) == 0) continue;
      if (machine_.levels[to].layouts) {
        expand_moves_to(spec, limits, i, to, vectors_inside, visit);
        continue;
      }
      OperandState state;
      state.level = static_cast<uint8_t>(to);
      expand_move(spec, limits, i, state, visit);
    }
  }
}

// Into a level that tells layouts apart: each that it may take there, in each size of vector.
void ActionSpace::expand_moves_to(const Spec& spec, const Limits& limits, int operand, int to,
                                  bool vectors_inside, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  const OperandState from = spec.operands[operand];
  const DpLevel &level = machine_.levels[to], &source = machine_.levels[from.level];
  const ScalarType type = kind.operands[operand].type;
  const OperandShape shape = operand_shape(kind.operands[operand], spec.extents.data());
  const std::vector<uint16_t>& layouts = destination_layouts(shape, type);
  const bool keeps_order = rules_.relayout == Relayout::kOnceForAll &&
                           (spec.relayouted >> operand & 1) && source.layouts;
  // What is only copied nearer may keep a layout that no copy would be given.
  const bool own = level.cache && to != from.level && source.layouts &&
                   std::find(layouts.begin(), layouts.end(), from.layout) == layouts.end();
  OperandState state;
  state.level = static_cast<uint8_t>(to);
  for (size_t l = 0; l < layouts.size() + (own ? 1 : 0); ++l) {
    state.layout = l < layouts.size() ? layouts[l] : from.layout;
    if (keeps_order && !keeps(from.layout, state.layout, level)) continue;
    if (vectors_inside && state.layout != from.layout && !level.registers &&
        !serves_vectors(kind, operand, layouts_.at(state.layout)))
      continue;
    state.vector = 0;
    if (level.vectors.empty()) expand_move(spec, limits, operand, state, visit);
    for (const int bytes : level.vectors) {
      const int lanes = bytes / bytes_of(type);
      if (bytes % bytes_of(type) != 0 || shape.volume() % lanes != 0) continue;
      state.vector = static_cast<uint8_t>(lanes);
      expand_move(spec, limits, operand, state, visit);
    }
  }
}

// Checks room first, since most moves fail there: what is left for the body is rounded down, what
// the move needs is exact.
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
  const bool touched_only = machine_.levels[to.level].cache && from.layout == to.layout;

  Expansion e;
  e.action = {ActionKind::kMove, static_cast<uint8_t>(operand), to, 0};
  const bool beside = spec.threads == Threads::kBeside;
  e.own_cost =
      cost_.touch(from, shape, what.type, beside) + cost_.touch(to, shape, what.type, beside);
  e.allocated_level = to.level;
  e.allocated = amount;
  Limits left = limits;
  left.codes[to.level] = codes_.down(to.level, available - amount);

  const bool is_output = operand == kind.output();
  // An output that is only written needs no copy in; one that is accumulated into does.
  const auto copy = [&](const OperandState& source, const OperandState& target) {
    e.part[e.parts++] = {copy_spec(spec, shape, what.type, source, target), left, 1};
  };
  if (!touched_only && (!is_output || kind.accumulates)) copy(from, to);
  e.main = e.parts;
  e.part[e.parts++] = {moved_spec(spec, operand, to), left, 1};
  if (!touched_only && is_output) copy(to, from);
  visit(e);
}

// One thread copies while others wait, or beside them.
Spec ActionSpace::copy_spec(const Spec& around, const OperandShape& shape, ScalarType type,
                            const OperandState& source, const OperandState& target) {
  Spec move;
  move.kind = static_cast<uint16_t>(kinds_.move(shape.rank, type));
  std::copy_n(shape.extents.begin(), shape.rank, move.extents.begin());
  move.operands[0] = source;
  move.operands[1] = target;
  if (rules_.relayout == Relayout::kOnceForAll ||
      (rules_.relayout == Relayout::kOnce && source.level == target.level))
    move.relayouted = 3;
  if (around.threads == Threads::kBeside) move.threads = around.threads;
  canonicalise(move);
  return move;
}

// What the operand may still do is remembered in one bit: a copy within its level at most once.
// Without that bit, plans would turn a layout there and back in every order.
Spec ActionSpace::moved_spec(const Spec& spec, int operand, const OperandState& to) {
  const OperandState& from = spec.operands[operand];
  Spec body = spec;
  body.operands[operand] = to;
  const uint8_t bit = static_cast<uint8_t>(1u << operand);
  if (rules_.relayout == Relayout::kOnceForAll && !machine_.levels[to.level].registers &&
      from.layout != to.layout)
    body.relayouted |= bit;
  if (rules_.relayout == Relayout::kOnce)
    body.relayouted = from.level == to.level ? body.relayouted | bit : body.relayouted & ~bit;
  canonicalise(body);
  return body;
}

}  // namespace exotune
