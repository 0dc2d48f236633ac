#include "core/ir/precision.h"

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

}  // namespace exotune
