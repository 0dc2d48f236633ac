#pragma once
// Short rows: where vectors of half a target's width fill, and whole ones do not.
#include <optional>

#include "hw/target.h"
#include "search/outline/outline.h"

namespace exotune {

/// Does a loop run along a row of half a vector, or of one and a half: as many elements of what it
/// goes through side by side, or pairs of them up to fours? Of longer rows the last half vector is
/// little.
bool has_rows_of_half(const Outline& o, const Target& target);

/// Is a loop of so many iterations (nothing: not known) worth a vector? Of an eighth of one and
/// less masks take longer than for single elements.
bool fills_lanes(std::optional<int64_t> extent, int64_t lanes);

}  // namespace exotune
