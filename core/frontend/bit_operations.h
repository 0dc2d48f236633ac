#pragma once
// What computes the same as an operation on bits, of which the language has none. Start at
// instead_of_data_bits.
#include <optional>
#include <string>

#include "core/frontend/syntax.h"
#include "core/ir/type.h"

namespace exotune {

struct InsteadOfBits {
  std::string text;  // what is written instead; "" where there is nothing
  std::string more;  // behind it: where it is right; or why there is nothing
  /// Both as one hint.
  std::string hint() const;
};

/// For `x >> 3`, `x << 3`, `x & 7`, `x | y` or `x ^ y` of data of a `type`. `right`: the value of
/// the right side, where it has one. `wanted`: the type of the place that the result goes to.
InsteadOfBits instead_of_data_bits(const SyntaxExpr& e, std::optional<int64_t> right,
                                   ScalarType type, ScalarType wanted);

/// The same for sizes and indices, whose `/` and `%` are of the floor.
InsteadOfBits instead_of_control_bits(const SyntaxExpr& e, std::optional<int64_t> left,
                                      std::optional<int64_t> right);

}  // namespace exotune
