#pragma once
// Timing of small loops written in C, in cycles of this core. Start at time_loops.
//
// A loop is a function `void NAME(int64_t steps, char* memory)`. Cycles are counted by a chain of
// dependent additions, one a cycle, timed in turns with the loop: what the clock does meanwhile
// cancels. Each unit runs in a child process of its own, so that an instruction that the CPU lacks
// ends that child alone; a unit that does not compile is left out, the others stay.
#include <cstdint>
#include <string>
#include <vector>

#include "runners/toolchain.h"

namespace exotune {

struct TimedFunction {
  std::string name;
  double per_step = 1;  // what one step does that many times
};

/// Functions that belong together.
struct LoopUnit {
  std::vector<std::string> globals;  // put before all functions, equal ones once
  std::string text;
  std::vector<TimedFunction> functions;
  int64_t memory_bytes = 65536;  // of the second argument; its first page is touched, no more
};

struct LoopTiming {
  double cycles = 0;  // of one of what a step does; 0: not known
  std::string cause;  // why not: "does not compile", "killed by SIGILL (illegal instruction)", ...
};
/// By unit and function.
using LoopTimings = std::vector<std::vector<LoopTiming>>;

struct LoopTimingOptions {
  std::string work_directory;   // "" = temporary
  int jobs = 1;                 // compilers at once
  double batch_seconds = 1e-4;  // of one of the batches, of which a short one counts
  int batches = 15;
  double timeout_seconds = 10;  // for each unit
};

LoopTimings time_loops(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain,
                       const LoopTimingOptions& options = {});

/// The units as one file: includes of the toolchain, globals, functions.
std::string text_of(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain);

}  // namespace exotune
