#pragma once
// Loops of one instruction, as C text, made from the instruction's own declaration: its template,
// the memories and types of its operands. Start at instruction_loops.
//
// Two functions `void NAME(int64_t steps, char* memory)`: one with independent results, whose time
// is the reciprocal throughput, and one in which each result is the next one's operand. Registers
// are variables, operands in memory lie in the first cache, a size argument has one lane less than
// all. Empty asm statements that may change every operand keep a compiler from merging, hoisting
// and deleting what it sees twice.
#include <optional>
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

struct InstructionLoops {
  static constexpr int64_t kMemoryBytes = 64 * 1024;  // that `memory` must hold, aligned to a page

  std::vector<std::string> globals;  // text for the file scope, each once per file, in order
  std::string independent;           // the function's text
  int independent_count = 0;         // instructions in one step
  std::string chain;                 // "" when no result can be an operand
  int chain_count = 0;
};

/// Functions `name` + "_independent" and `name` + "_chain". Nothing for an instruction without data
/// (what a fence takes depends on what is around it), or whose operands are neither elements of C
/// arrays nor single registers with a C type of their own.
std::optional<InstructionLoops> instruction_loops(const Proc& instruction, const std::string& name);

}  // namespace exotune
