#include "cli/replay.h"

#include <cstdio>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/ahead.h"
#include "core/library/script.h"
#include "hw/half_width.h"

namespace exotune::cli {
namespace {

// The values that partial_eval steps fixed on the way to `p`.
Sizes fixed_values(const std::vector<TraceStep>& trace) {
  Sizes fixed;
  for (const TraceStep& step : trace) {
    if (step.how->op != "partial_eval") continue;
    for (const Value& value : step.how->args)
      if (const auto* named = value.as<std::map<std::string, Value>>())
        for (const auto& [name, number] : *named)
          if (const auto* integer = number.as<int64_t>()) fixed[name] = *integer;
  }
  return fixed;
}

// As of a procedure that nobody made from another: what was measured does not know where it is
// from.
std::string code_of(const ProcPtr& p) {
  const CFile file = generate_kernel(without_provenance(p), {});
  return file.c + file.h;
}

}  // namespace

ScriptNames script_names(Workspace& workspace, const KernelInput& input,
                         const std::string& target) {
  ScriptNames out;
  if (!target.empty()) out.targets.push_back(workspace.target(target));
  for (const std::string& name : input.module.imports)
    out.targets.push_back(workspace.targets().load(name));
  if (out.targets.empty()) out.targets.push_back(workspace.target("", input.proc.get()));

  const TargetPtr half = half_width_of(*out.targets.front());
  std::vector<const Module*> libraries;
  for (const TargetPtr& each : out.targets) libraries.push_back(&each->library);
  if (half) libraries.push_back(&half->library);
  out.environment = script_environment(input.module, libraries);
  out.environment.start = input.proc;
  // Of the target alone, whatever else the file imports.
  const std::vector<ProcPtr> own = out.targets.front()->instructions();
  out.environment.names[kInstructionList] = Value(ValueList(own.begin(), own.end()));
  return out;
}

Replayed replay(Workspace& workspace, const KernelInput& input, const std::string& text,
                const std::string& file, const std::string& target) {
  Replayed replayed;
  ScriptNames names = script_names(workspace, input, target);
  const ScriptEnvironment& environment = names.environment;
  replayed.targets = std::move(names.targets);
  const ScriptResult result = run_script(text, file, environment);
  for (const std::string& warning : result.warnings) std::fputs(warning.c_str(), stderr);
  replayed.proc = result.proc;
  check(*replayed.proc);

  const std::vector<TraceStep> trace = trace_of(replayed.proc);
  replayed.steps = trace.size();
  replayed.reassociates = reassociates(replayed.proc);
  replayed.fixed = fixed_values(trace);
  return replayed;
}

ProcPtr replayed(Workspace& workspace, const KernelInput& input, const std::string& found,
                 const std::string& target, const ProcPtr& measured) {
  try {
    const Replayed again = replay(workspace, input, found, "the schedule", target);
    if (str(*again.proc) == str(*measured)) return again.proc;
    if (canonical_text(*again.proc) == canonical_text(*measured)) return measured;
    // Two schedules may make one code, as where loops that run once are left in one of them: it was
    // measured, whichever lines it has.
    if (code_of(again.proc) == code_of(measured)) return again.proc;
    std::fprintf(stderr,
                 "warning: the schedule that was found makes other code than was measured: its own "
                 "is written, proved but not measured; this is a bug of exo-tune\n");
    return again.proc;
  } catch (const Error& e) {
    throw Error(
        Diagnostic{{},
                   "the schedule that was found does not replay; nothing is written",
                   {e.diagnostic().message.str(), "the schedule:\n" + found},
                   "this is a bug of exo-tune; the trials are kept: the same command chooses anew"},
        ExitCode::kInternal);
  }
}

}  // namespace exotune::cli
