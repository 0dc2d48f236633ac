#include "search/figures.h"

#include <algorithm>

#include "core/base/hashing.h"
#include "cost/instruction_class.h"
#include "cost/instruction_loops.h"
#include "hw/machine_model.h"
#include "runners/line_timing.h"
#include "runners/loop_estimate.h"
#include "search/problem.h"

namespace exotune {
// What was found out about a target on this machine: read from the store, measured when asked, and
// keyed by what it depends on: instructions by the core and compiler, lines by the machine's memory
// too. A figure of another core is no figure.

namespace {

constexpr const char* kLoopModel = "loops 1";  // changes with what the loops hold

struct Kinds {
  const char* throughput;
  const char* latency;
};
Kinds kinds_of(FigureSource source) {
  if (source == FigureSource::kMeasured) return {"measured throughput", "measured latency"};
  return {"estimated throughput", "estimated latency"};
}

std::optional<std::string> compiler_of(const Target& target) {
  if (!target.runner.is_this_machine()) return std::nullopt;
  try {
    return toolchain_of(target).describe();
  } catch (const Error& e) {
    if (e.exit_code() == ExitCode::kInternal) throw;
    return std::nullopt;
  }
}

FigureKey figure_key(const Target& target, const Machine& machine, const std::string& compiler,
                     const std::string& kind) {
  return {target.name, content_hash(target.hash + "\n" + kLoopModel + "\n" + compiler),
          machine.microarch, kind};
}

// Lines depend on the memory of the machine as well.
FigureKey lines_key(const Target& target, const Machine& machine, const std::string& compiler) {
  return figure_key(target, machine, compiler + "\n" + fingerprint(machine, target).hash, "lines");
}

void read(const Store& store, const Target& target, const Machine& machine,
          const std::string& compiler, FigureSource source, InstructionFigures& out) {
  const Kinds kinds = kinds_of(source);
  const Figures throughput = store.figures(figure_key(target, machine, compiler, kinds.throughput));
  const Figures latency = store.figures(figure_key(target, machine, compiler, kinds.latency));
  for (const auto& [name, cycles] : throughput) {
    const auto l = latency.find(name);
    out[name] = {cycles, l == latency.end() ? 0 : l->second, source};
  }
}

std::string level_name(size_t k) { return "level " + std::to_string(k + 1); }

std::string port_of(const InstructionClass& c) {
  const double busiest = c.ports.busiest();
  if (c.ports.arithmetic == busiest) return "arithmetic";
  if (c.ports.load == busiest) return "load";
  return c.ports.store == busiest ? "store" : "other";
}

InstructionRow row_of(const Proc& instruction) {
  InstructionRow row;
  row.name = instruction.name;
  row.port = port_of(classify(instruction));
  row.text = instruction.instr->cost;
  return row;
}

}  // namespace

InstructionCosts stored_instruction_costs(const Target& target, const Machine& machine,
                                          const Store& store) {
  InstructionCosts out;
  if (const std::optional<std::string> compiler = compiler_of(target)) {
    read(store, target, machine, *compiler, FigureSource::kEstimated, out.estimated);
    read(store, target, machine, *compiler, FigureSource::kMeasured, out.measured);
  }
  for (const ProcPtr& p : target.instructions()) {
    InstructionRow row = row_of(*p);
    if (const auto e = out.estimated.find(row.name); e != out.estimated.end())
      row.estimated = e->second;
    if (const auto m = out.measured.find(row.name); m != out.measured.end())
      row.measured = m->second;
    out.rows.push_back(std::move(row));
  }
  return out;
}

const std::vector<std::string>& cost_basis_names() {
  static const std::vector<std::string> names = {"text", "instructions", "lines", "measured",
                                                 "all"};
  return names;
}

namespace {

// A core with one port for multiply-adds says so once, not for each instruction of the target.
InstructionFigures slower_than_text(const Target& target, const CoreFacts& core) {
  InstructionFigures out;
  if (core.fma <= 0) return out;
  for (const ProcPtr& p : target.instructions())
    if (const InstructionClass c = classify(*p);
        c.ports.arithmetic > 0 && c.ports.arithmetic < core.fma)
      out[p->name] = {core.fma, c.accumulates ? core.fma_latency : 0, FigureSource::kText};
  return out;
}

}  // namespace

// The target's text, then the core's, then what was measured: each outranks the ones before, and
// says where it comes from.
TargetFigures figures_of(const Target& target, const Machine& machine, const Store* store,
                         CostBasis basis) {
  TargetFigures out;
  const MachineModel model = model_of(target, machine);
  out.levels = model.levels;
  out.core = model.core;
  out.instructions = slower_than_text(target, model.core);
  if (!store || basis == CostBasis::kText) return out;
  const std::optional<std::string> compiler = compiler_of(target);
  if (!compiler) return out;
  if (basis != CostBasis::kLines) {
    read(*store, target, machine, *compiler, FigureSource::kEstimated, out.instructions);
    read(*store, target, machine, *compiler, FigureSource::kMeasured, out.instructions);
  }
  if (basis == CostBasis::kInstructions) return out;
  const Figures lines = store->figures(lines_key(target, machine, *compiler));
  for (size_t k = 0;; ++k) {
    const auto cycles = lines.find(level_name(k));
    if (cycles == lines.end()) break;
    out.lines.push_back(cycles->second);
  }
  return out;
}

void keep_instructions(const Target& target, const Machine& machine,
                       const InstructionFigures& figures, Store& store) {
  const std::string compiler = compiler_of(target).value_or("");
  for (const FigureSource source : {FigureSource::kEstimated, FigureSource::kMeasured}) {
    Figures throughput, latency;
    for (const auto& [name, figure] : figures) {
      if (figure.source != source || figure.throughput <= 0) continue;
      throughput[name] = figure.throughput;
      if (figure.latency > 0) latency[name] = figure.latency;
    }
    if (throughput.empty()) continue;
    const Kinds kinds = kinds_of(source);
    store.put_figures(figure_key(target, machine, compiler, kinds.throughput), throughput);
    store.put_figures(figure_key(target, machine, compiler, kinds.latency), latency);
  }
}

void keep_lines(const Target& target, const Machine& machine, const std::vector<double>& lines,
                Store& store) {
  Figures figures;
  for (size_t k = 0; k < lines.size(); ++k) figures[level_name(k)] = lines[k];
  store.put_figures(lines_key(target, machine, compiler_of(target).value_or("")), figures);
}

namespace {

// The loops that show an instruction's throughput (independent ones) and latency (a chain).
LoopUnit unit_of(const std::string& name, InstructionLoops loops) {
  LoopUnit unit;
  unit.globals = std::move(loops.globals);
  unit.text = loops.independent + loops.chain;
  unit.functions = {{name + "_independent", static_cast<double>(loops.independent_count)}};
  if (!loops.chain.empty())
    unit.functions.push_back({name + "_chain", static_cast<double>(loops.chain_count)});
  unit.memory_bytes = InstructionLoops::kMemoryBytes;
  return unit;
}

InstructionFigure figure(const std::vector<LoopTiming>& t, FigureSource source) {
  return {t[0].cycles, t.size() > 1 ? t[1].cycles : 0, source};
}

}  // namespace

// Loops of each instruction alone: independent ones for throughput, a chain for latency; measured
// in rounds so that a machine that changes its clock shows.
InstructionCosts instruction_costs(const Target& target, const InstructionRequest& request) {
  const TargetToolchain toolchain = toolchain_of(target);
  InstructionCosts out;
  std::vector<LoopUnit> units;
  std::vector<size_t> rows;  // of each unit
  for (const ProcPtr& p : target.instructions()) {
    InstructionRow row = row_of(*p);
    if (std::optional<InstructionLoops> loops = instruction_loops(*p, p->name)) {
      units.push_back(unit_of(p->name, std::move(*loops)));
      rows.push_back(out.rows.size());
    } else {
      row.cause = "no operands, or some that are neither one register nor elements";
    }
    out.rows.push_back(std::move(row));
  }
  if (request.estimate && can_estimate()) {
    const LoopTimings estimated = estimate_loops(units, toolchain);
    for (size_t u = 0; u < units.size(); ++u) {
      InstructionRow& row = out.rows[rows[u]];
      row.estimated = figure(estimated[u], FigureSource::kEstimated);
      if (row.estimated.throughput > 0) out.estimated[row.name] = row.estimated;
    }
  }
  if (request.measure) {
    LoopTimingOptions options;
    options.jobs = request.jobs;
    options.work_directory = request.work_directory;
    const LoopTimings measured = time_loops(units, toolchain, options);
    for (size_t u = 0; u < units.size(); ++u) {
      InstructionRow& row = out.rows[rows[u]];
      row.measured = figure(measured[u], FigureSource::kMeasured);
      row.cause = measured[u][0].cause;
      if (row.measured.throughput > 0) out.measured[row.name] = row.measured;
    }
  }
  return out;
}

// Loops over working sets of each level's size, with arithmetic too small to matter.
std::vector<double> line_costs(const Target& target, const Machine& machine,
                               const std::string& work_directory) {
  std::vector<int64_t> caches;
  int line = 0;
  for (const TargetLevel& level : caches_of(machine.levels_of(target))) {
    caches.push_back(level.bytes);
    line = level.line_bytes;
  }
  if (caches.empty() || line <= 0) return {};
  LoopTimingOptions options;
  options.work_directory = work_directory;
  std::vector<double> out =
      time_lines(caches, line, target.vector_bits / 8, toolchain_of(target), options);
  for (const double cycles : out)
    if (cycles <= 0) return {};
  return out;
}

}  // namespace exotune
