#include "search/dp/replay.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/diagnostic.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

class StepWriter {
 public:
  StepWriter(ActionSpace& space, const LiftedNest& nest, const Target& target,
             const ValueList& instructions)
      : space_(space), nest_(nest), unit_(target, nest.kind.operands.back().type, instructions) {
    for (const Sym loop : nest.loops) names_.push_back(loop.name());
    for (size_t d = 0; d < names_.size(); ++d) order_.push_back(static_cast<int>(d));
    left_ = nest.extents;
    for (int input = 0; input < nest.kind.output(); ++input)
      if (nest.kind.turned(input) >= 0) unpacked_.insert(input);
  }

  Steps run(const PlanNode& plan) {
    for (size_t d = 0; d < names_.size(); ++d)
      rounded_.push_back(plan.spec.extents[d] != nest_.extents[d]);
    note_innermost(plan);
    if (several_sums()) sums_inside();
    for (const PlanNode* node = &plan; node && !done_; node = step(*node)) {
    }
    // Last: what is inside by then is what must not race.
    for (const std::string& loop : parallel_) steps_.push_back({"H_parallel", {loop}});
    return steps_;
  }

 private:
  // Writes the node's action; the main part goes on.
  const PlanNode* step(const PlanNode& node) {
    switch (node.action.kind) {
      case ActionKind::kSelect:
        return nullptr;
      case ActionKind::kInitialise:
        return &node.parts[1];
      case ActionKind::kTile:
        return tile(node);
      case ActionKind::kParallelTile:
        parallel_.push_back(block(node.action.index, node.action.size));
        return &node.parts[0];
      case ActionKind::kMove:
        return move(node);
    }
    return nullptr;
  }

  bool several_sums() const {
    return std::count(nest_.kind.reduction.begin(), nest_.kind.reduction.end(), true) > 1;
  }

  // The nest in the order that sum_block takes it: rows, vectors, then sums.
  void sums_inside() {
    const SpecKind& kind = nest_.kind;
    const auto place = [&](int d) {
      return kind.reduction[d] ? 3 : d == kind.vector_loop() ? 2 : d == kind.row_loop() ? 1 : 0;
    };
    std::vector<int> wanted = order_;
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](int a, int b) { return place(a) < place(b); });
    for (size_t k = 0; k < wanted.size(); ++k)
      for (size_t at = static_cast<size_t>(std::find(order_.begin(), order_.end(), wanted[k]) -
                                           order_.begin());
           at > k; --at) {
        steps_.push_back(swap_step(names_[order_[at - 1]], names_[order_[at]]));
        std::swap(order_[at - 1], order_[at]);
      }
  }

  // The loops of the nest that the rest of the plan describes, outermost first.
  std::vector<int> open_loops() const {
    std::vector<int> out;
    for (const int d : order_)
      if (!unrolled_.contains(d)) out.push_back(d);
    return out;
  }

  // The sizes of the tiles that no other tile is in.
  void note_innermost(const PlanNode& plan) {
    innermost_.assign(names_.size(), 1);
    for (const PlanNode* node = &plan;; node = &node->parts[static_cast<size_t>(node->main)]) {
      if (node->action.kind == ActionKind::kTile)
        innermost_[node->action.index] = node->action.size;
      if (node->parts.empty()) return;
    }
  }

  // Of a loop that was planned for another extent: pieces as even as whole inner tiles allow, since
  // each rest is code of its own; an eighth larger rather than one more.
  uint32_t fitted(int dim, uint32_t size) {
    int64_t& left = left_[dim];
    const bool whole = left % size == 0, sum = nest_.kind.reduction[dim];
    if (rounded_[dim] && !whole && left > size && (sum || size != innermost_[dim])) {
      const int64_t pieces = std::max<int64_t>(2, (left + size - size / 8) / size);
      const int64_t even = (left + pieces - 1) / pieces, unit = sum ? 1 : innermost_[dim];
      size = static_cast<uint32_t>((even + unit - 1) / unit * unit);
    }
    left = size;
    return size;
  }

  // The outer part of the loop in front of the current nest; its name.
  std::string block(int dim, uint32_t size) {
    size = fitted(dim, size);
    const std::string& name = names_[dim];
    const std::string outer = name + "o" + (outers_ == 0 ? "" : std::to_string(outers_));
    ++outers_;
    const int front = open_loops().front();
    ScheduleStep step = block_step(name, static_cast<int64_t>(size), outer);
    if (front != dim) step.args.emplace_back(names_[front]);
    steps_.push_back(std::move(step));
    return outer;
  }

  // Tiles of tiles with nothing in between are one, for each loop.
  const PlanNode* tile(const PlanNode& first) {
    const PlanNode* last = &first;
    std::vector<int> dims;
    while (last->action.kind == ActionKind::kTile) {
      const int dim = last->action.index;
      if (std::find(dims.begin(), dims.end(), dim) == dims.end()) dims.push_back(dim);
      last = &last->parts[0];
    }
    const auto again = std::stable_partition(dims.begin(), dims.end(), [&](int dim) {
      return std::all_of(unpacked_.begin(), unpacked_.end(),
                         [&](int input) { return moves(input, dim); });
    });
    for (auto at = dims.begin(); at != dims.end(); ++at) {
      const int dim = *at;
      if (at == again) turn_operands(*last);
      const std::string& name = names_[dim];
      const uint32_t size = last->spec.extents[dim];
      block(dim, size);
      // The micro-kernel of several sums has a row, be it only one.
      if (size == 1 && !(several_sums() && dim == nest_.kind.row_loop())) {
        steps_.push_back({"unroll_all", {name}});
        unrolled_.insert(dim);
      }
    }
    return last;
  }

  const PlanNode* move(const PlanNode& node) {
    const OperandState& to = node.action.to;
    const DpLevel& level = space_.machine().levels[to.level];
    const SpecKind& kind = space_.kinds().at(node.spec.kind);
    const int operand = node.action.index;
    const PlanNode* body = nullptr;
    for (const PlanNode& part : node.parts)
      if (part.spec.kind == node.spec.kind && part.spec.operands[operand] == to) body = &part;
    EXO_CHECK(body);
    if (level.registers) {
      turn_operands(node);
      registers(node);
      done_ = true;
      return nullptr;
    }
    if (to.layout != node.spec.operands[operand].layout && operand != kind.output()) {
      unpacked_.erase(operand);
      pack(node);
    }
    return body;
  }

  bool moves(int operand, int dim) const {
    for (const Subscript& s : nest_.kind.operands[operand].subscripts)
      for (const SubscriptTerm& t : s)
        if (t.dim == dim) return true;
    return false;
  }

  // What was planned as if its vectors lay there is packed in front of the first loop that reads it
  // again, unless the plan packs it farther inside.
  void turn_operands(const PlanNode& from) {
    const std::vector<int> open = open_loops();
    for (const int input : std::exchange(unpacked_, {})) {
      if (open.empty() || packs(from, input)) continue;
      strips_.push_back(steps_.size());
      steps_.push_back(pack_step(nest_.buffers[input].name(), names_[open.front()], 0, unit_,
                                 nest_.kind.turned(input)));
    }
  }

  // Does the plan from here on lay the input out anew, outside of registers?
  bool packs(const PlanNode& from, int input) const {
    if (from.action.kind == ActionKind::kMove && from.action.index == input &&
        !space_.machine().levels[from.action.to.level].registers &&
        from.action.to.layout != from.spec.operands[input].layout)
      return true;
    return std::any_of(from.parts.begin(), from.parts.end(), [&](const PlanNode& part) {
      return part.spec.kind == from.spec.kind && packs(part, input);
    });
  }

  // Strips of the dimension that the layout has innermost, as wide as it says; 0 where it is no
  // strip: that dimension becomes the copy's last.
  void pack(const PlanNode& node) {
    const int operand = node.action.index;
    const TensorLayout& layout = space_.layouts().at(node.action.to.layout);
    const SpecKind& kind = space_.kinds().at(node.spec.kind);
    const std::vector<int> open = open_loops();
    if (open.empty() || layout.rank == 0) return;
    const int last = static_cast<int>(kind.operands[operand].subscripts.size()) - 1;
    const PhysicalDim& inner = layout.dims[layout.rank - 1];
    steps_.push_back(pack_step(nest_.buffers[operand].name(), names_[open.front()], inner.pack,
                               unit_, inner.dim == last ? -1 : inner.dim));
    const Subscript& along = kind.operands[operand].subscripts[inner.dim];
    if (inner.pack > 0 && along.size() == 1 && along[0].dim == kind.vector_loop())
      strips_.push_back(steps_.size() - 1);
  }

  // As against the largest of its terms.
  static bool adds(const SpecKind& kind) { return kind.statement.rfind("+=", 0) == 0; }

  // From here on operands are in vector registers: the micro-kernel.
  void registers(const PlanNode& node) {
    const SpecKind& kind = space_.kinds().at(node.spec.kind);
    std::vector<int> rows, sums;
    const OperandKind& output = kind.operands.back();
    if (output.subscripts.empty() || output.subscripts.back().size() != 1) return;
    const int vector = output.subscripts.back()[0].dim;
    for (int d = 0; d < kind.dims(); ++d)
      if (d != vector) (kind.reduction[d] ? sums : rows).push_back(d);
    // Loops that run once are loops still, but not of the micro-kernel when there are others.
    for (std::vector<int>* dims : {&rows, &sums})
      if (dims->size() > 1) std::erase_if(*dims, [&](int d) { return node.spec.extents[d] == 1; });
    // A tile reads whole strips: of one that is cut in several, each part is a strip.
    const int64_t width = node.spec.extents[vector];
    for (const size_t k : strips_)
      if (const int64_t strip = *value_of(steps_[k], "strip")->as<int64_t>();
          strip % width == 0 && strip != width)
        steps_[k] = with_value(std::move(steps_[k]), "strip", width);
    const bool along = width > 1;
    if (along && several_sums()) {
      const int row = kind.row_loop();
      if (row < 0 || unrolled_.contains(row)) return;
      steps_.push_back(sum_block_step(names_[row], names_[vector], unit_));
      steps_.push_back(unroll_registers_step(unit_));
    } else if (along && rows.size() == 1 && sums.size() == 1) {
      steps_.push_back(
          register_block_step(names_[rows[0]], names_[vector], names_[sums[0]], unit_,
                              adds(kind) && lasts_for_asking(node.spec.extents[sums[0]])));
      steps_.push_back(unroll_registers_step(unit_));
    } else if (along && sums.empty()) {
      steps_.push_back(unit_.step("vectorize", {names_[vector]}));
    }
  }

  ActionSpace& space_;
  const LiftedNest& nest_;
  const VectorValues unit_;
  std::vector<std::string> names_;
  Steps steps_;
  std::vector<bool> rounded_;          // loops that were planned for another extent
  std::vector<int64_t> left_;          // extents of the current nest's loops
  std::vector<uint32_t> innermost_;    // of each loop, its smallest tile
  std::vector<std::string> parallel_;  // loops
  std::vector<int> order_;             // of the loops that the blocks leave
  std::set<int> unrolled_;
  std::vector<size_t> strips_;  // steps that pack strips along the vector loop; 0: as wide as tiles
  std::set<int> unpacked_;      // inputs across the vectors that no step has packed yet
  int outers_ = 0;
  bool done_ = false;
};

}  // namespace

Steps steps_of(const PlanNode& plan, ActionSpace& space, const LiftedNest& nest,
               const Target& target, const ValueList& instructions) {
  if (!target.vector_memory) return {};
  return StepWriter(space, nest, target, instructions).run(plan);
}

Spec spec_of(const LiftedNest& nest, const Proc& proc, ActionSpace& space) {
  Spec spec;
  spec.kind = static_cast<uint16_t>(space.kinds().id(nest.kind));
  spec.threads = Threads::kMayStart;
  for (size_t d = 0; d < nest.extents.size(); ++d) {
    if (nest.extents[d] < 1 || nest.extents[d] > UINT32_MAX)
      throw InputError(proc.where, "'" + proc.name + "' has a loop of symbolic extent",
                       "fix its sizes first: partial_eval(p, N=64)");
    spec.extents[d] = static_cast<uint32_t>(nest.extents[d]);
  }
  // Masked tails cost what whole vectors cost: plan for those.
  const OperandKind& output = nest.kind.operands.back();
  int lanes = 1;
  for (const DpLevel& level : space.machine().levels)
    for (const int bytes : level.vectors) lanes = std::max(lanes, bytes / bytes_of(output.type));
  if (space.machine().predicated && !output.subscripts.empty() &&
      output.subscripts.back().size() == 1) {
    uint32_t& along = spec.extents[output.subscripts.back()[0].dim];
    along = (along + lanes - 1) / lanes * lanes;
  }
  for (size_t i = 0; i < nest.kind.operands.size(); ++i) {
    const OperandShape shape = operand_shape(nest.kind.operands[i], spec.extents.data());
    spec.operands[i].level = static_cast<uint8_t>(space.machine().outermost());
    std::vector<int> order;
    for (size_t d = 0; d < nest.kind.operands[i].subscripts.size(); ++d)
      order.push_back(static_cast<int>(d));
    // Every plan packs such an input once, which costs them alike: planned as if its vectors lay
    // there, four fifths of the Specs need not be looked at.
    if (const int turned = nest.kind.turned(static_cast<int>(i)); turned >= 0) {
      order.erase(order.begin() + turned);
      order.push_back(turned);
    }
    spec.operands[i].layout = space.layouts().id(TensorLayout::ordered(order, shape));
  }
  return spec;
}

}  // namespace exotune
