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

}  // namespace exotune
