#pragma once
// The Spec of a matrix product in memory, for tests of the solver that need no program.
#include <array>
#include <cstdint>

#include "search/dp/dp.h"

namespace exotune {

/// C += A B of m x n x k, every operand row-major in the machine's outermost level. `loops`: the
/// variables of rows, columns and depth, which a test names as it likes.
inline Spec matmul_spec(SpecKinds& kinds, LayoutPool& layouts, const DpMachine& machine,
                        std::array<uint32_t, 3> extents, ScalarType t,
                        std::array<uint8_t, 3> loops = {0, 1, 2}) {
  const Subscript i{{loops[0], 1}}, j{{loops[1], 1}}, p{{loops[2], 1}};
  const SpecKind kind{"+= $0 * $1",         true,
                      {false, false, true}, {{t, {i, p}}, {t, {p, j}}, {t, {i, j}}},
                      {{0, 1}, {1, 0}},     "0"};
  Spec spec;
  spec.kind = static_cast<uint16_t>(kinds.id(kind));
  spec.extents = {extents[0], extents[1], extents[2]};
  for (int o = 0; o < 3; ++o) {
    const OperandShape shape = operand_shape(kind.operands[o], spec.extents.data());
    spec.operands[o] = {static_cast<uint8_t>(machine.outermost()), 0,
                        layouts.id(TensorLayout::row_major(shape))};
  }
  return spec;
}

}  // namespace exotune
