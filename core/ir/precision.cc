#include "core/ir/precision.h"

#include <algorithm>

namespace exotune {

bool has_own_precision(const ExprPtr& e) {
  if (e->type != ScalarType::kR) return true;
  if (e->as<Const>()) return false;
  if (e->as<Read>() || e->as<ReadConfig>() || e->as<WindowExpr>()) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (has_own_precision(c)) return true;
  return false;
}

ScalarType precision_in(const ExprPtr& e, ScalarType context) {
  if (!has_own_precision(e)) return context;
  return e->type == ScalarType::kR ? ScalarType::kF32 : e->type;
}

std::optional<std::pair<int64_t, int64_t>> integers_of(ScalarType t) {
  constexpr int64_t kLargestF16 = 65504;
  switch (t) {
    case ScalarType::kI8:
      return std::pair<int64_t, int64_t>{-128, 127};
    case ScalarType::kUi8:
      return std::pair<int64_t, int64_t>{0, 255};
    case ScalarType::kI16:
      return std::pair<int64_t, int64_t>{-32768, 32767};
    case ScalarType::kUi16:
      return std::pair<int64_t, int64_t>{0, 65535};
    case ScalarType::kI32:
      return std::pair<int64_t, int64_t>{INT32_MIN, INT32_MAX};
    case ScalarType::kF16:
      return std::pair<int64_t, int64_t>{-kLargestF16, kLargestF16};
    default:
      return std::nullopt;
  }
}

ScalarType common_type(ScalarType a, ScalarType b) {
  if (a == b) return a;
  const auto of_a = integers_of(a), of_b = integers_of(b);
  if (is_float(a) && is_float(b))
    return bytes_of(a) == bytes_of(b) ? ScalarType::kF32 : bytes_of(a) > bytes_of(b) ? a : b;
  if (is_float(a) || is_float(b)) return is_float(a) ? a : b;
  if (!of_a || !of_b) return ScalarType::kI32;
  for (const ScalarType t : {a, b, ScalarType::kI16}) {
    const auto all = *integers_of(t);
    if (all.first <= std::min(of_a->first, of_b->first) &&
        all.second >= std::max(of_a->second, of_b->second))
      return t;
  }
  return ScalarType::kI32;
}

}  // namespace exotune
