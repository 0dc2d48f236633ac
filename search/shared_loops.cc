#include "search/shared_loops.h"

#include <algorithm>

#include "search/steps/builders.h"

namespace exotune {

std::vector<SharedLoop> shared_loops(const Nest& nest, const Target& target, int threads) {
  std::vector<SharedLoop> out;
  for (size_t k = 0; k < nest.loops.size(); ++k) {
    const NestLoop& loop = nest.loops[k];
    if (!loop.in_output || !loop.extent || !loop.outer.empty()) continue;
    const bool vectors = loop.name == nest.vector_loop;
    const int64_t step = vectors ? std::max(1, target.lanes_of(nest.precision)) : 1;
    const int64_t part = *loop.extent / threads / step * step;
    if (part < 1) continue;
    SharedLoop shared;
    const std::string outer = loop.name + "t";
    shared.share_out = block_step(loop.name, part, outer, k == 0 ? "" : nest.loops.front().name);
    shared.parallelize = {"H_parallel", {outer}};
    shared.part = nest;
    shared.part.loops[k].extent = part;
    if (vectors)
      out.insert(out.begin(), std::move(shared));
    else
      out.push_back(std::move(shared));
  }
  return out;
}

}  // namespace exotune
