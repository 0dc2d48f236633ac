#include "cost/target_figures.h"

#include <cstdio>

namespace exotune {

std::string TargetFigures::identity() const {
  std::string text = identity_of(instructions);
  for (const TargetLevel& l : levels) {
    char number[96];
    std::snprintf(number, sizeof number, "\n%lld %d %.17g", static_cast<long long>(l.bytes),
                  l.line_bytes, l.cost_per_line);
    text += number;
  }
  if (!(core == default_core()))
    for (const CoreFact& fact : core_facts()) {
      char number[64];
      std::snprintf(number, sizeof number, "\n%s %.17g", fact.key, core.*fact.value);
      text += number;
    }
  for (const double cycles : lines) {
    char number[32];
    std::snprintf(number, sizeof number, " %.17g", cycles);
    text += number;
  }
  return text;
}

}  // namespace exotune
