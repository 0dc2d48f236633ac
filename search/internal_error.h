#pragma once
// A step that fails inside the engine is a bug of ours, and no reason to lose a run: it is left out
// and counted under a name of its own, which reports show and tests refuse.

namespace exotune {

/// Stands where refusals name the operator.
inline constexpr char kInternalError[] = "internal error";

}  // namespace exotune
