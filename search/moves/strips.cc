#include "search/moves/strips.h"

#include <algorithm>

#include "search/moves/panels.h"

namespace exotune {

std::vector<int64_t> strips_of(const VectorValues& unit, int64_t shared,
                               std::optional<int64_t> extent) {
  std::vector<int64_t> out;
  // A row that fits half of them is not cut, whatever else stands in the loop over rows.
  if (extent && 2 * shared * ceil_div(*extent, unit.lanes()) <= unit.registers())
    out.push_back(ceil_div(*extent, unit.lanes()));
  // As many registers again for the elements in flight, and some for what a row brings along.
  const int64_t most = std::max<int64_t>(1, unit.registers() / 3 / std::max<int64_t>(1, shared));
  for (const int64_t wish : {most, most / 2}) {
    if (wish < 1) continue;
    const int64_t vectors = extent ? equal_parts(ceil_div(*extent, unit.lanes()), wish) : wish;
    if (std::find(out.begin(), out.end(), vectors) == out.end()) out.push_back(vectors);
  }
  return out;
}

Steps strip_steps(const std::string& rows, const std::string& columns, const VectorValues& unit,
                  std::optional<int64_t> extent, int64_t vectors) {
  Steps out;
  if (!extent || *extent > vectors * unit.lanes())
    out.push_back(block_step(columns, Value(vectors * unit.lanes()), columns + "o", rows));
  out.push_back(unit.step("opt_skinny", {rows, columns}, {Value(vectors)}));
  return out;
}

}  // namespace exotune
