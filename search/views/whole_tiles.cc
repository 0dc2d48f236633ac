#include "search/views/whole_tiles.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/library/inspection.h"
#include "core/primitives/primitives.h"
#include "search/device/kernel_sum.h"

namespace exotune {
namespace {

// Iterations of a fixed tile: the fewest along results, the most along the sum.
struct FixedTile {
  int64_t results = 0, sum = 0;  // 0: not fixed
};

FixedTile fixed_tile(const DeviceInstructions& device, ScalarType factor) {
  FixedTile tile;
  for (const ProductInstruction& product : device.products) {
    if (product.operand != factor) continue;
    for (size_t k = 0; k < product.loops.size(); ++k) {
      const ProductInstruction::Loop& loop = product.loops[k];
      if (!loop.fixed) continue;
      if (!product.out.has(static_cast<int>(k)))
        tile.sum = std::max(tile.sum, loop.most);
      else if (tile.results == 0 || loop.most < tile.results)
        tile.results = loop.most;
    }
  }
  return tile;
}

// One loop around the sum, the loops around it parted with it.
ProcPtr cut(ProcPtr p, const Cursor& sum, size_t k, int64_t tile) {
  const Cursor loop = enclosing_loops(forward(p, sum))[k];
  const std::optional<int64_t> extent = as_int(loop.as<For>().hi);
  if (!extent || *extent <= tile || *extent % tile == 0) return p;
  p = cut_loop(p, loop, *extent - *extent % tile);
  if (k == 0) return p;
  const Cursor whole = enclosing_loops(forward(p, sum))[k];
  return fission(p, whole.after(), static_cast<int>(k));
}

}  // namespace

ProcPtr cut_to_whole_tiles(const ProcPtr& p, const DeviceInstructions& device) {
  ProcPtr now = p;
  try {
    for (const KernelSum& sum : sums_of(p)) {
      const FixedTile tile = fixed_tile(device, sum.first.value);
      for (size_t k = 0; k < sum.loops.size(); ++k) {
        const int64_t size = sum.loops[k].reduction ? tile.sum : tile.results;
        if (size > 1) now = cut(now, sum.sum, k, size);
      }
    }
  } catch (const SchedulingError&) {
    return nullptr;
  }
  return now == p ? nullptr : now;
}

}  // namespace exotune
