#pragma once
// The precision in which a data expression is computed.
#include "core/ir/expr.h"

namespace exotune {

/// False for literals and expressions of literals of type R: they take the precision of what they
/// meet.
bool has_own_precision(const ExprPtr& e);
/// The expression's own precision, R decided as f32, or `context` when it has none.
ScalarType precision_in(const ExprPtr& e, ScalarType context);
/// The least and the greatest integer that a type of data holds, where an int64_t may be none of
/// them; nothing for the types that hold (or round) them all.
std::optional<std::pair<int64_t, int64_t>> integers_of(ScalarType t);
/// The smallest type of data that holds what both hold: of `i8` and `ui8` it is `i16`; a floating
/// one where either is, which may hold some integers only.
ScalarType common_type(ScalarType a, ScalarType b);

}  // namespace exotune
