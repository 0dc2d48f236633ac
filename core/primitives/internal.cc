#include "core/primitives/internal.h"

namespace exotune::internal {

void refuse(const char* op, const std::string& message, LazyText hint) {
  throw SchedulingError(std::string(op) + ": " + message, {}, std::move(hint));
}

void require(const Answer& answer, const char* op, const std::string& message) {
  if (answer) return;
  throw SchedulingError(std::string(op) + ": " + message, answer.notes());
}

}  // namespace exotune::internal
