#include "search/dp/ahead_layout.h"

#include <algorithm>
#include <numeric>

#include "search/dp/replay.h"

namespace exotune {

namespace {

constexpr int64_t kMostBlocks = 16;  // of an instruction's operand, side by side

// Which of `theirs` (an instruction's operands) is which of `mine`; the last is the result.
std::vector<int> operands_of(const SpecKind& theirs, const SpecKind& mine) {
  for (const std::vector<int>& order : theirs.symmetries) {
    bool same = true;
    std::vector<int> from;
    for (size_t i = 0; i < mine.operands.size(); ++i) {
      from.push_back(i < order.size() ? order[i] : static_cast<int>(i));
      same =
          same && theirs.operands[static_cast<size_t>(from.back())].type == mine.operands[i].type;
    }
    if (same) return from;
  }
  return {};
}

// The loops of the result that a loop runs along: for each of `kind`'s loops, its place among the
// operand's dimensions; -1 where the operand has no such dimension.
std::vector<int> dimension_of_loop(const OperandKind& operand, int loops) {
  std::vector<int> out(static_cast<size_t>(loops), -1);
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    if (operand.subscripts[d].size() != 1 || operand.subscripts[d][0].coefficient != 1) return {};
    out[operand.subscripts[d][0].dim] = static_cast<int>(d);
  }
  return out;
}

// Which loop of `mine` a loop of `theirs` is: sums to the innermost sum, the last dimension of the
// result to the last dimension of the result.
std::optional<int> loop_of(const SpecKind& theirs, int loop, const SpecKind& mine) {
  const auto last = [](const SpecKind& k) -> std::optional<int> {
    const OperandKind& result = k.operands.back();
    if (result.subscripts.empty() || result.subscripts.back().size() != 1) return std::nullopt;
    return result.subscripts.back()[0].dim;
  };
  if (theirs.reduction[static_cast<size_t>(loop)]) {
    for (int d = mine.dims() - 1; d >= 0; --d)
      if (mine.reduction[static_cast<size_t>(d)]) return d;
    return std::nullopt;
  }
  return last(theirs) == loop ? last(mine) : std::nullopt;
}

SolverOptions until(const Deadline& deadline) {
  SolverOptions options;
  options.interrupted = [deadline] { return deadline.over(); };
  return options;
}

class Chooser {
 public:
  Chooser(const Proc& p, const Target& target, const TargetFigures& figures, LiftedNest nest,
          const Deadline& deadline)
      : proc_(p),
        deadline_(deadline),
        machine_(machine_of(target, figures)),
        space_(machine_, search_rules(), kinds_, layouts_),
        solver_(space_, memo_, until(deadline)),
        nest_(std::move(nest)) {}

  std::vector<AheadLayout> run(int operand, int most) {
    operand_ = operand;
    const OperandKind& mine = nest_.kind.operands[static_cast<size_t>(operand)];
    dimension_ = dimension_of_loop(mine, nest_.kind.dims());
    if (dimension_.empty()) return {};
    for (const DpKernel& kernel : machine_.kernels)
      if (kernel.instruction && kernel.kind.statement == nest_.kind.statement) try_kernel(kernel);
    std::stable_sort(found_.begin(), found_.end(), [](const AheadLayout& a, const AheadLayout& b) {
      return a.cycles < b.cycles;
    });
    if (static_cast<int>(found_.size()) > most) found_.resize(static_cast<size_t>(most));
    return found_;
  }

 private:
  void try_kernel(const DpKernel& kernel) {
    const SpecKind& kind = nest_.kind;
    const std::vector<int> from = operands_of(kernel.kind, kind);
    if (from.empty()) return;
    const OperandKind& theirs =
        kernel.kind.operands[static_cast<size_t>(from[static_cast<size_t>(operand_)])];
    // The instruction's block of this operand: dimensions of ours, in its order, with its extents.
    std::vector<std::pair<int, int64_t>> block;
    int widened = -1;  // the one that the result runs along
    int64_t depth = 1;
    for (const Subscript& s : theirs.subscripts) {
      if (s.size() != 1 || s[0].coefficient != 1) return;
      const std::optional<int> loop = loop_of(kernel.kind, s[0].dim, kind);
      const int64_t extent = kernel.extents[s[0].dim];
      if (!loop || dimension_[static_cast<size_t>(*loop)] < 0 || extent < 1) return;
      if (kind.reduction[static_cast<size_t>(*loop)])
        depth = extent;
      else
        widened = static_cast<int>(block.size());
      block.emplace_back(dimension_[static_cast<size_t>(*loop)], extent);
    }
    if (widened < 0) return;
    const int64_t lanes = block[static_cast<size_t>(widened)].second;
    for (int64_t blocks = 1; blocks <= kMostBlocks; blocks *= 2) {
      block[static_cast<size_t>(widened)].second = blocks * lanes;
      try_orders(kernel, block, depth);
    }
  }

  void try_orders(const DpKernel& kernel, const std::vector<std::pair<int, int64_t>>& block,
                  int64_t depth) {
    const OperandKind& mine = nest_.kind.operands[static_cast<size_t>(operand_)];
    const int rank = static_cast<int>(mine.subscripts.size());
    std::vector<int> outer(static_cast<size_t>(rank));
    std::iota(outer.begin(), outer.end(), 0);
    do {
      try_order(kernel, outer, block, depth);
    } while (std::next_permutation(outer.begin(), outer.end()));
  }

  void try_order(const DpKernel& kernel, const std::vector<int>& outer,
                 const std::vector<std::pair<int, int64_t>>& block, int64_t depth) {
    if (deadline_.over()) return;
    const size_t rank = outer.size();
    const std::vector<int> named = names_of(rank, block);
    const LiftedNest nest = renamed(named);
    Spec spec = spec_of(nest, proc_, space_);
    const auto name_of = [&](int dim) {
      return static_cast<uint8_t>(std::find(named.begin(), named.end(), dim) - named.begin());
    };
    TensorLayout layout;
    AheadLayout out;
    out.tiles.assign(rank, 1);
    for (const int dim : outer) layout.dims[layout.rank++] = {name_of(dim), 0};
    for (const auto& [dim, extent] : block) {
      if (extent == 1) continue;
      layout.dims[layout.rank++] = {name_of(dim), static_cast<uint16_t>(extent)};
      out.tiles[static_cast<size_t>(dim)] = extent;
    }
    layout.contiguous = layout.rank;
    const OperandShape shape =
        operand_shape(nest.kind.operands[static_cast<size_t>(operand_)], spec.extents.data());
    if (!layout.physical(shape)) return;  // a block does not divide the operand
    const std::optional<TensorLayout> canonical = layout.tiled(shape, shape);
    if (!canonical) return;
    spec.operands[static_cast<size_t>(operand_)].layout = space_.layouts().id(*canonical);
    const std::optional<MemoValue> value = solver_.solve(spec);
    if (!value || value->best.empty()) return;
    out.order = packing_order(outer, block, out.tiles);
    out.depth = depth;
    out.instruction = kernel.name;
    out.cycles = static_cast<double>(value->best[0].cost.units) /
                 static_cast<double>(machine_.units_per_cycle);
    found_.push_back(std::move(out));
  }

  // The operand's own dimensions in the order in which the instruction names them: its meaning is
  // the same, and what a dimension is called is free.
  static std::vector<int> names_of(size_t rank, const std::vector<std::pair<int, int64_t>>& block) {
    std::vector<int> named;
    for (const auto& [dim, extent] : block) named.push_back(dim);
    for (size_t d = 0; d < rank; ++d)
      if (std::find(named.begin(), named.end(), static_cast<int>(d)) == named.end())
        named.insert(named.begin(), static_cast<int>(d));
    return named;
  }
  LiftedNest renamed(const std::vector<int>& named) const {
    LiftedNest nest = nest_;
    const auto which = static_cast<size_t>(operand_);
    for (size_t d = 0; d < named.size(); ++d)
      nest.kind.operands[which].subscripts[d] =
          nest_.kind.operands[which].subscripts[static_cast<size_t>(named[d])];
    return nest;
  }

  // pack_ahead's numbers: each dimension's blocks, then its places in a block.
  static std::vector<int> packing_order(const std::vector<int>& outer,
                                        const std::vector<std::pair<int, int64_t>>& block,
                                        const std::vector<int64_t>& tiles) {
    std::vector<int> first(tiles.size());
    int next = 0;
    for (size_t d = 0; d < tiles.size(); ++d) {
      first[d] = next;
      next += tiles[d] > 1 ? 2 : 1;
    }
    std::vector<int> order;
    for (const int dim : outer) order.push_back(first[static_cast<size_t>(dim)]);
    for (const auto& [dim, extent] : block)
      if (extent > 1) order.push_back(first[static_cast<size_t>(dim)] + 1);
    return order;
  }

  const Proc& proc_;
  const Deadline deadline_;
  DpMachine machine_;
  SpecKinds kinds_;
  LayoutPool layouts_;
  ActionSpace space_;
  BoxMemo memo_;
  SpecSolver solver_;
  LiftedNest nest_;
  int operand_ = 0;
  std::vector<int> dimension_;
  std::vector<AheadLayout> found_;
};

}  // namespace

std::vector<AheadLayout> ahead_layouts(const Proc& p, const std::string& buffer,
                                       const Target& target, const TargetFigures& figures, int most,
                                       const Deadline& deadline) {
  std::optional<LiftedNest> nest = lift_nest(p);
  if (!nest) return {};
  const auto literal = [](int64_t e) { return e > 0; };
  if (!std::all_of(nest->extents.begin(), nest->extents.end(), literal)) return {};
  for (size_t i = 0; i + 1 < nest->buffers.size(); ++i)
    if (nest->buffers[i].name() == buffer)
      return Chooser(p, target, figures, *nest, deadline).run(static_cast<int>(i), most);
  return {};
}

}  // namespace exotune
