#pragma once
// A compiled candidate brought into this process; only ever done in a child.
#include <string>

#include "runners/batch_compiler.h"
#include "runners/judge.h"

namespace exotune {

/// Loads the shared object and finds the candidate's entry; an empty function and `*error` when the
/// loader refuses. The library stays loaded until the process ends.
Binder load_candidate(const CompiledCandidate& unit, std::string* error);

}  // namespace exotune
