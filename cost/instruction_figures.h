#pragma once
// What is known of a target's instructions beyond its text: cycles, and where the numbers come
// from. Start at InstructionFigures. Where nothing is known the text's `cost` and latencies stand.
#include <cstdint>
#include <map>
#include <string>

namespace exotune {

enum class FigureSource : uint8_t { kText, kEstimated, kMeasured };
const char* name_of(FigureSource source);  // "target text", "llvm-mca", "measured"

struct InstructionFigure {
  double throughput = 0;  // cycles of one of many independent ones
  double latency = 0;     // cycles from an operand to the result; 0: unknown, or there is no chain
  FigureSource source = FigureSource::kText;
  bool operator==(const InstructionFigure&) const = default;
};
/// By the instruction's name.
using InstructionFigures = std::map<std::string, InstructionFigure>;

/// Changes with anything in the figures that a cost is made of; "" without any.
std::string identity_of(const InstructionFigures& figures);

}  // namespace exotune
