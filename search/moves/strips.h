#pragma once
// Strips: a few vectors of what all rows read along them stay in registers while the rows go by.
#include <cstdint>
#include <optional>
#include <vector>

#include "search/steps/builders.h"

namespace exotune {

/// Vectors of a strip to try, most first: a whole row where that takes half of the registers for
/// all of `shared` buffers; of each of them so many that all take a third of the registers, and
/// half of that; a little less where equal strips leave no rest of a row. `extent`: elements of a
/// row, if known.
std::vector<int64_t> strips_of(const VectorValues& unit, int64_t shared,
                               std::optional<int64_t> extent);

/// for i: for j: A[i, j] += x[i] * y[j]
///   ->  for jo: w = y[V * jo: V * jo + V]; for i: for j in seq(0, V): A[i, V * jo + j] += x[i] * w
///
/// A row that is no longer than the strip is not cut. SchedulingError from opt_skinny when no
/// vector is used again.
Steps strip_steps(const std::string& rows, const std::string& columns, const VectorValues& unit,
                  std::optional<int64_t> extent, int64_t vectors);

}  // namespace exotune
