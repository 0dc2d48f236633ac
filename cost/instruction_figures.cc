#include "cost/instruction_figures.h"

#include <cstdio>

#include "core/base/hashing.h"

namespace exotune {

const char* name_of(FigureSource source) {
  static const char* const kNames[] = {"target text", "llvm-mca", "measured"};
  return kNames[static_cast<int>(source)];
}

std::string identity_of(const InstructionFigures& figures) {
  if (figures.empty()) return "";
  std::string text;
  for (const auto& [name, figure] : figures) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, " %.17g %.17g\n", figure.throughput, figure.latency);
    text += name + numbers;
  }
  return content_hash(text);
}

}  // namespace exotune
