#pragma once
// Figures of a target on this machine: what instructions and lines cost, measured or estimated,
// kept in the database by the target's text, the microarchitecture and the compiler. Start at
// figures_of.
#include <functional>
#include <string>
#include <vector>

#include "cost/target_figures.h"
#include "db/store.h"
#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

/// Which figures count, the text stands for the others: of instructions, of lines, both, and both
/// with the weights that were fitted to runs.
enum class CostBasis : uint8_t { kText, kInstructions, kLines, kMeasured, kAll };
/// "text", "instructions", "lines", "measured", "all", in this order.
const std::vector<std::string>& cost_basis_names();

/// What the store has: of each instruction what was measured, else what was estimated. `store` may
/// be null; a target that is not native, or whose compiler is not here, has nothing.
TargetFigures figures_of(const Target& target, const Machine& machine, const Store* store,
                         CostBasis basis = CostBasis::kAll);

/// Takes the place of what was kept from the same source.
void keep_instructions(const Target& target, const Machine& machine,
                       const InstructionFigures& figures, Store& store);
void keep_lines(const Target& target, const Machine& machine, const std::vector<double>& lines,
                Store& store);

/// One row of what is known of an instruction; 0: unknown.
struct InstructionRow {
  std::string name, port;  // "arithmetic", "load", "store", "other": of its class, the busiest
  double text = 0;
  InstructionFigure estimated, measured;
  std::string cause;  // why it was not measured; "" when it was
};

struct InstructionCosts {
  std::vector<InstructionRow> rows;  // in the order of the target's text
  InstructionFigures estimated, measured;
};

struct InstructionRequest {
  bool estimate = true;  // by llvm-mca, where it is installed
  bool measure = true;   // on this machine
  int jobs = 1;          // compilers at once
  std::string work_directory;
};

/// What the store has, as rows.
InstructionCosts stored_instruction_costs(const Target& target, const Machine& machine,
                                          const Store& store);

/// Loops of every instruction of the target (cost/instruction_loops.h), estimated and timed; some
/// seconds. Error(kUnavailable) without a compiler.
InstructionCosts instruction_costs(const Target& target, const InstructionRequest& request);

/// Cycles for a line that lies in each of the target's caches, and last in memory; empty when one
/// could not be measured.
std::vector<double> line_costs(const Target& target, const Machine& machine,
                               const std::string& work_directory = "");

}  // namespace exotune
