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

}  // namespace exotune
