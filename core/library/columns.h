#pragma once
// Sums that stay in vector registers, one lane for each column, while all rows go by: the inside of
// a vector-matrix product, for instructions that add up one row at a time or several (dot products
// of pairs). Made of primitives only.
#include <string>

#include "core/library/vectorize.h"

namespace exotune {

/// for j: for k: y[j] += e
///   ->  for jo: y_reg = y; for ko: for j: for k in seq(0, depth): y_reg[j] += e; y = y_reg
///
/// `vectors` registers of columns, `depth` rows for one instruction; both loops have literal
/// extents that lanes and depth divide. The statements inside become the instruction whose body
/// they are, else one instruction each. SchedulingError when there is none.
/// Proposed for sums by columns: registers hold the results meanwhile.
ProcPtr accumulate_columns(ProcPtr p, const std::string& rows, const std::string& columns,
                           const VectorUnit& unit, int64_t vectors, int64_t depth);

}  // namespace exotune
