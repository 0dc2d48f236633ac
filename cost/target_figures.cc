#include "cost/target_figures.h"

#include <cstdio>

namespace exotune {

std::string TargetFigures::identity() const {
  std::string text = identity_of(instructions);
  for (const double cycles : lines) {
    char number[32];
    std::snprintf(number, sizeof number, " %.17g", cycles);
    text += number;
  }
  return text;
}

}  // namespace exotune
