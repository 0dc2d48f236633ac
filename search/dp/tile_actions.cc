// Tiles: the sizes tried, and the body and boundary that a tile leaves.
#include <algorithm>

#include "search/dp/actions.h"

namespace exotune {

using Visit = std::function<void(const Expansion&)>;

namespace {
// What a loop is to its nest decides which factors are worth trying: rows and vectors meet the
// number of registers, sums only the caches.

enum Role { kRow, kVector, kSum };

Role role_of(const SpecKind& kind, int dim) {
  if (kind.reduction[dim]) return kSum;
  const OperandKind& output = kind.operands.back();
  const bool inner = !output.subscripts.empty() && output.subscripts.back().size() == 1 &&
                     output.subscripts.back()[0].dim == dim;
  return inner ? kVector : kRow;
}

}  // namespace

// Sizes that are no powers of two leave boundaries at every extent: for blocks of registers only.
uint32_t ActionSpace::largest_factored(int role) const {
  int64_t registers = 0, bytes = 0;
  for (const DpLevel& level : machine_.levels)
    if (!level.vectors.empty()) {
      registers = level.capacity;
      bytes = level.vectors.back();
    }
  return static_cast<uint32_t>(role == kVector ? bytes : registers);
}

// Powers of two times the role's factors, sizes of the rules, and the whole. With tiles_in_steps
// only sizes that divide no larger one tried: tiling twice costs the same as at once, so the larger
// is reached in two steps.
const std::vector<uint32_t>& ActionSpace::tile_sizes(const SpecKind& kind, int dim,
                                                     uint32_t extent) {
  const Role role = role_of(kind, dim);
  std::vector<uint32_t>& sizes = tile_sizes_[{role, extent}];
  if (!sizes.empty() || extent <= 1) return sizes;
  const DpRules::Factors& f = rules_.factors;
  for (const uint32_t factor : role == kRow ? f.rows : role == kVector ? f.vectors : f.sums)
    for (uint32_t s = factor; s < extent && (factor == 1 || s <= largest_factored(role)); s *= 2)
      sizes.push_back(s);
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
  return sizes;
}

// Is it one of the two inner dimensions of some operand of a copy, strips included?
bool ActionSpace::is_inner(const Spec& spec, const SpecKind& kind, int dim) const {
  for (int i = 0; i <= kind.output(); ++i) {
    const TensorLayout& layout = layouts_.at(spec.operands[i].layout);
    for (int at = std::max(0, layout.rank - 2); at < layout.rank; ++at)
      if (layout.dims[at].dim == dim) return true;
  }
  return false;
}

// The sizes that one loop of the Spec is cut to, as far as the rules let it.
const std::vector<uint32_t>& ActionSpace::cuts(const Spec& spec, int dim) {
  static const std::vector<uint32_t> kNone, kSingle{1};
  const KindFacts& f = facts(spec.kind);
  const SpecKind& kind = kinds_.at(spec.kind);
  if (f.rows_outside >> dim & 1) return kSingle;
  if (rules_.copies_inside && !rules_.relaxed && kind.dims() > 2 && kind.is_elementwise() &&
      !is_inner(spec, kind, dim))
    return kSingle;
  if (!(f.taps >> dim & 1)) return tile_sizes(kind, dim, spec.extents[dim]);
  for (int d = 0; d < kind.dims(); ++d)
    if (spec.extents[d] > 1 && !(f.taps >> d & 1)) return kNone;
  return kSingle;
}

// The Spec of one tile: extents cut, layouts as the tile has them in place. False when a layout
// cannot be cut there (a strip would be split).
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
    o.layout = layout_id(*layout);
  }
  canonicalise(out);
  return true;
}

// A body for the full tiles and one for what is left over: the boundary is exact, never padded, and
// there is one at the most because only one loop is cut at a time.
void ActionSpace::expand_tiles(const Spec& spec, const Limits& limits, const Visit& visit) {
  const SpecKind& kind = kinds_.at(spec.kind);
  for (int dim = 0; dim < kind.dims(); ++dim) {
    const uint32_t extent = spec.extents[dim];
    if (extent == 1 || (kind.reduction[dim] && !kind.accumulates)) continue;
    for (const uint32_t size : cuts(spec, dim)) {
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

// Equal parts for all threads, once, twice and four times over (whole vectors of the loop that
// these run along), and the usual sizes.
std::vector<uint32_t> ActionSpace::shares(const SpecKind& kind, int dim, uint32_t extent) {
  std::vector<uint32_t> sizes = tile_sizes(kind, dim, extent);
  int lanes = 1;
  for (const DpLevel& level : machine_.levels)
    for (const int bytes : level.vectors)
      lanes = std::max(lanes, bytes / bytes_of(kind.operands.back().type));
  const uint32_t step = role_of(kind, dim) == kVector ? static_cast<uint32_t>(lanes) : 1;
  for (const uint32_t rounds : {1u, 2u, 4u}) {
    const uint32_t part = extent / (static_cast<uint32_t>(machine_.threads) * rounds);
    if (part >= step) sizes.push_back(part / step * step);
  }
  std::erase_if(sizes, [&](uint32_t size) { return extent / size < 2; });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// Only loops of the output are shared out: a sum over threads would have to be added up afterwards.
void ActionSpace::expand_parallel_tiles(const Spec& spec, const Limits& limits,
                                        const Visit& visit) {
  if (spec.threads != Threads::kMayStart) return;
  const SpecKind& kind = kinds_.at(spec.kind);
  for (int dim = 0; dim < kind.dims(); ++dim) {
    const uint32_t extent = spec.extents[dim];
    if (extent == 1 || kind.reduction[dim]) continue;  // parts of one sum would race
    for (const uint32_t size : shares(kind, dim, extent)) {
      const int64_t trips = extent / size;
      Expansion e;
      e.action = {ActionKind::kParallelTile, static_cast<uint8_t>(dim), {}, size};
      Spec body = spec, rest = spec;
      body.threads = Threads::kBeside;
      rest.threads = Threads::kAlone;
      if (!tile(body, dim, size, e.part[0].spec)) continue;
      e.at_once = static_cast<int>(std::min<int64_t>(machine_.threads, trips));
      e.shared_levels = shared_levels_;
      e.part[0].times = (trips + machine_.threads - 1) / machine_.threads;
      e.part[0].limits = limits;
      for (size_t level = 0; level < machine_.levels.size(); ++level)
        if (shared_levels_ >> level & 1) {
          const int at = static_cast<int>(level);
          e.part[0].limits.codes[level] =
              codes_.down(at, codes_.amount(at, limits.codes[level]) / e.at_once);
        }
      e.own_cost = machine_.thread_start + machine_.thread_trip * e.part[0].times;
      e.parts = 1;
      if (extent % size != 0) {
        if (!tile(rest, dim, extent % size, e.part[1].spec)) continue;
        e.part[1].limits = limits;
        e.parts = 2;
      }
      visit(e);
    }
  }
}

}  // namespace exotune
