#pragma once
// What the primitives share and nobody else sees: refusing, and requiring proofs.
#include "core/analysis/queries.h"
#include "core/primitives/primitives.h"

namespace exotune::internal {

/// Throws SchedulingError "op: message".
[[noreturn]] void refuse(const char* op, const std::string& message, LazyText hint = {});

/// Throws SchedulingError "op: message" with the answer's notes, unless it is a proof.
void require(const Answer& answer, const char* op, const std::string& message);

}  // namespace exotune::internal
