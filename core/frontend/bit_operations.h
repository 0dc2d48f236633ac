#pragma once
// What computes the same as an operation on bits, of which the language has none. Start at
// instead_of_data_bits.
#include <optional>
#include <string>

#include "core/frontend/syntax.h"
#include "core/ir/type.h"

namespace exotune {

/// The hint for `x >> 3`, `x << 3` or `x & 7` of data of a `type`: what is written instead, which
/// is right for the negative numbers that it names, or that there is nothing. `right`: the value of
/// the right side, where it has one. `wanted`: the type of the place that the result goes to.
std::string instead_of_data_bits(const SyntaxExpr& e, std::optional<int64_t> right, ScalarType type,
                                 ScalarType wanted);

/// The same for sizes and indices, whose `/` and `%` are of the floor.
/// `cast`: the type of data that the result is made, or "".
std::string instead_of_control_bits(const SyntaxExpr& e, std::optional<int64_t> left,
                                    std::optional<int64_t> right, const std::string& cast);

}  // namespace exotune
