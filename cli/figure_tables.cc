#include "cli/figure_tables.h"

#include "cli/quantities.h"
#include "core/base/deadline.h"

namespace exotune::cli {

namespace {

std::string known(double cycles) { return cycles > 0 ? number(cycles) : ""; }

}  // namespace

FoundFigures find_figures(const Target& target, const Machine& machine, const FigureWishes& wishes,
                          Store& store) {
  FoundFigures out;
  const TargetFigures known = figures_of(target, machine, &store);
  if (wishes.instructions && !wishes.fresh)
    out.instructions = stored_instruction_costs(target, machine, store);
  const bool enough =
      wishes.how.measure ? !out.instructions.measured.empty() : !out.instructions.estimated.empty();
  if (wishes.instructions && !enough) {
    out.instructions = instruction_costs(target, wishes.how);
    // Some of them would stand for all from now on.
    if (DeadlineScope::current().over()) return out;
    keep_instructions(target, machine, out.instructions.estimated, store);
    keep_instructions(target, machine, out.instructions.measured, store);
  }
  if (wishes.lines) {
    if (!wishes.fresh) out.lines = known.lines;
    if (out.lines.empty() && wishes.how.measure)
      out.lines = line_costs(target, machine, wishes.how.work_directory);
    if (!out.lines.empty()) keep_lines(target, machine, out.lines, store);
    for (const TargetLevel& level : machine.levels_of(target))
      if (level.is_cache() ? level.bytes > 0 : level.memory->kind == MemoryKind::kHeap)
        out.levels.push_back(level);
  }
  return out;
}

Table instruction_table(const FoundFigures& found) {
  Table table({"instruction", "throughput", "latency", "port", "source", "llvm-mca throughput",
               "llvm-mca latency", "text", "note"},
              {"throughput", "latency", "llvm-mca throughput", "llvm-mca latency", "text"});
  for (const InstructionRow& row : found.instructions.rows) {
    InstructionFigure best{row.text, 0, FigureSource::kText};
    if (row.estimated.throughput > 0) best = row.estimated;
    if (row.measured.throughput > 0) best = row.measured;
    table.add({row.name, known(best.throughput), known(best.latency), row.port,
               name_of(best.source), known(row.estimated.throughput), known(row.estimated.latency),
               number(row.text), row.cause});
  }
  return table;
}

Table line_table(const FoundFigures& found) {
  Table table({"level", "cycles per line", "text"}, {"cycles per line", "text"});
  for (size_t k = 0; k < found.lines.size() && k < found.levels.size(); ++k)
    table.add(
        {found.levels[k].name, number(found.lines[k]), number(found.levels[k].cost_per_line)});
  return table;
}

}  // namespace exotune::cli
