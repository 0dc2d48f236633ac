#pragma once
// What `exo-tune calibrate` finds out before it fits anything: the costs of instructions and of
// lines. Start at find_figures.
#include "cli/table.h"
#include "search/figures.h"

namespace exotune::cli {

struct FoundFigures {
  InstructionCosts instructions;
  std::vector<double> lines;
  std::vector<TargetLevel> levels;  // where the lines lie, nearest first
};

struct FigureWishes {
  bool instructions = true, lines = true;
  bool fresh = false;  // again, though the store has them
  InstructionRequest how;
};

/// Measures what is wished for and not in the store, and keeps it.
FoundFigures find_figures(const Target& target, const Machine& machine, const FigureWishes& wishes,
                          Store& store);

/// A row for each instruction: cycles that count, and where they come from.
Table instruction_table(const FoundFigures& found);
/// A row for each cache and for memory.
Table line_table(const FoundFigures& found);

}  // namespace exotune::cli
