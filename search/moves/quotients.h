#pragma once
// Quotients: loops whose iterations share something by fours, `k[h / 4, t]`, taken apart so that
// each subscript is affine. Start at without_quotients.
#include <optional>

#include "search/moves/step.h"

namespace exotune {

/// for h: s(x[h / 4], y[h % 4])  ->  for hq: for h: s(x[hq], y[h])
///
/// Every loop of which a subscript takes a quotient or a remainder, by the smallest divisor there
/// is, whole iterations and a rest where its extent is no multiple. Nothing: there is none, or the
/// core refused.
std::optional<Schedule> without_quotients(const Schedule& s);

}  // namespace exotune
