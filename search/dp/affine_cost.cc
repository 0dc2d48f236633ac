#include "search/dp/affine_cost.h"

#include "search/dp/register_block.h"

namespace exotune {

int64_t AffineCost::amount(const OperandState& o, const OperandShape& shape,
                           ScalarType type) const {
  const DpLevel& level = machine_.levels[o.level];
  if (level.registers)
    return o.vector ? (shape.volume() + o.vector - 1) / o.vector : shape.volume();
  const TensorLayout& layout = layouts_.at(o.layout);
  const int64_t lines = layout.lines(shape, bytes_of(type), machine_.line_bytes);
  return layout.is_contiguous() || !level.cache ? lines : lines * machine_.apart_footprint;
}

int64_t AffineCost::touch(const OperandState& o, const OperandShape& shape, ScalarType type,
                          bool beside) const {
  const DpLevel& level = machine_.levels[o.level];
  if (level.cost == 0 || !level.layouts) return 0;
  const TensorLayout& layout = layouts_.at(o.layout);
  const int64_t once = (beside ? level.cost_beside : level.cost) *
                       layout.lines(shape, bytes_of(type), machine_.line_bytes);
  return layout.is_contiguous() ? once : once * machine_.apart_cost_quarters / 4;
}

int64_t AffineCost::kernel(const DpKernel& k, const Spec& spec) const {
  const SpecKind& kind = kinds_.at(spec.kind);
  if (k.block) return block_cost(k, spec, kind, ports_);
  int64_t cost = k.base;
  int64_t executions = 1;
  for (int d = 0; d < kind.dims(); ++d) executions *= spec.extents[d];
  if (k.per_element != 0) cost += k.per_element * executions;
  if (k.per_vector != 0) {
    int64_t strip = k.strip, volume = executions;
    if (strip == 0)
      for (size_t i = 0; i < kind.operands.size() && strip == 0; ++i)
        if (spec.operands[i].vector != 0) {
          strip = spec.operands[i].vector;
          volume = operand_shape(kind.operands[i], spec.extents.data()).volume();
        }
    cost += k.per_vector * (strip > 0 ? volume / strip : volume);
  }
  for (size_t i = 0; i < kind.operands.size(); ++i)
    if (k.charged >> i & 1)
      cost += touch(spec.operands[i], operand_shape(kind.operands[i], spec.extents.data()),
                    kind.operands[i].type, spec.threads == Threads::kBeside);
  return cost;
}

}  // namespace exotune
