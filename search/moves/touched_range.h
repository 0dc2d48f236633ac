#pragma once
// What a nest touches of a dimension. Start at range_of.
#include <optional>

#include "search/outline/outline.h"

namespace exotune {

/// lo <= index < hi, over the names that are known in front of the loops.
struct TouchedRange {
  ExprPtr lo, hi;
};

/// The values of `index`, one of the access, over the loops around it. Nothing where the bounds of
/// one of them follow another, or the index falls while one goes on.
std::optional<TouchedRange> range_of(const Outline& o, const OutlineAccess& a,
                                     const ExprPtr& index);

/// What the access touches in all iterations, as a window by the names of `scope`:
/// "y[k, 0:64]". Nothing where it cannot be told.
std::optional<std::string> window_text(const Outline& o, const OutlineAccess& a,
                                       const std::vector<ScopeEntry>& scope);

}  // namespace exotune
