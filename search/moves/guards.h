#pragma once
// Guards: programs whose conditions are told by the bounds of loops. Start at without_guards.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// if 0 < i + d: s under loops  ->  the same loops cut where the conditions change (cut_at_guards),
/// for every loop at the top that holds conditions. Nothing: there are none, or none could be told.
std::optional<Schedule> without_guards(const Schedule& s);

}  // namespace exotune
