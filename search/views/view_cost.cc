#include "search/views/view_cost.h"

#include <algorithm>
#include <cmath>

#include "search/device/kernel_sum.h"

namespace exotune {
namespace {

// Two loads, a product and a sum of a processor beside the tiles.
constexpr double kCyclesByProcessor = 4;

double points_of(const KernelSum& sum) {
  double count = 1;
  for (const SumLoop& loop : sum.loops) count *= static_cast<double>(loop.extent);
  return count;
}

double tiles_in(const KernelSum& sum, const SumMapping& mapping) {
  double count = points_of(sum);
  for (size_t k = 0; k < mapping.loops.size(); ++k) {
    const auto extent = static_cast<double>(sum.loops[mapping.loops[k]].extent);
    count *= std::ceil(extent / static_cast<double>(mapping.tiles[k])) / extent;
  }
  return count;
}

std::string tile_text(const SumMapping& mapping) {
  std::string text;
  for (const int64_t tile : mapping.tiles)
    text += (text.empty() ? "" : " x ") + std::to_string(tile);
  return text;
}

// The cheapest way, or the processor's.
TileFit fit_of_sum(const KernelSum& sum, const DeviceInstructions& device) {
  TileFit best;
  for (const ProductInstruction& product : device.products)
    for (const SumMapping& mapping : mappings_of(sum, product)) {
      const double each = product.proc->instr ? product.proc->instr->cost : 1;
      const double cycles = tiles_in(sum, mapping) * each;
      const bool made = sum.first.made(product) || sum.second.made(product);
      if (best.tile.empty() || cycles < best.cycles) best = {cycles, 0, tile_text(mapping), made};
    }
  best.points = points_of(sum);
  if (best.tile.empty()) best.cycles = kCyclesByProcessor * best.points;
  return best;
}

}  // namespace

ViewCosts::ViewCosts(TargetPtr target, ScalarType result)
    : target_(std::move(target)),
      multiplies_tiles_(target_->vector_memory == nullptr),
      lanes_(std::max(1, target_->lanes_of(result))) {
  if (multiplies_tiles_) device_ = read_instructions(*target_);
}

int64_t ViewCosts::block() const {
  if (!multiplies_tiles_) return static_cast<int64_t>(lanes_);
  int64_t side = 1;
  for (const ProductInstruction& product : device_.products) {
    int64_t shorter = product.loops.empty() ? 1 : product.loops.front().most;
    for (const ProductInstruction::Loop& loop : product.loops)
      shorter = std::min(shorter, loop.most);
    side = std::max(side, shorter);
  }
  return side;
}

std::string ViewCosts::unit() const {
  return multiplies_tiles_ ? "cycles of tiles"
                           : "vectors of " + std::to_string(std::llround(lanes_));
}

std::optional<double> ViewCosts::operations(const std::optional<eqsat::ViewFigures>& figures,
                                            const ProcPtr& proc) const {
  if (!figures) return std::nullopt;
  const eqsat::ViewFigures& f = *figures;
  if (!multiplies_tiles_)
    return f.products / f.along * std::ceil(f.along / lanes_) + (f.copied - f.across) * 2 / lanes_ +
           f.across;
  if (!proc) return std::nullopt;
  const TileFit tiles = fit(proc);
  const double left = std::max(0.0, f.products - tiles.points);
  return tiles.cycles + kCyclesByProcessor * left + 2 * f.copied;
}

TileFit ViewCosts::fit(const ProcPtr& proc) const {
  TileFit all;
  for (const KernelSum& sum : sums_of(proc)) {
    const TileFit one = fit_of_sum(sum, device_);
    all.cycles += one.cycles;
    all.points += one.points;
    if (!one.tile.empty()) all.tile = one.tile;
    all.made = all.made || one.made;
  }
  return all;
}

double gain_of(const ViewCosts& costs, const eqsat::CandidateReport& report,
               const eqsat::Candidate& c) {
  if (c.product < 0) return 1;
  const std::optional<double> before = costs.operations(
      report.written[static_cast<size_t>(c.product)], report.candidates.front().proc);
  const std::optional<double> after = costs.operations(c.figures, c.proc);
  return before && after && *after > 0 && *before > 0 ? *before / *after : 1;
}

}  // namespace exotune
