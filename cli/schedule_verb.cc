// exo-tune schedule FILE.exo[:proc] [FILE.sched]: applies a script and prints the result. No
// search, unless the script asks for one: its holes are filled by the cost model.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/replay.h"
#include "cli/session.h"
#include "cli/target_code.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "core/codegen/codegen.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/ahead.h"
#include "db/store.h"
#include "search/complete/completion.h"

namespace exotune::cli {
namespace {

struct ScheduleOptions {
  std::string kernel, script, target, emit = "exo", folder, stem, proofs;
  bool verbose = false;
};

enum class Emit { kExo, kC, kTrace, kScript };

Emit parse_emit(const std::string& text) {
  if (text == "exo") return Emit::kExo;
  if (text == "c") return Emit::kC;
  if (text == "trace") return Emit::kTrace;
  if (text == "script") return Emit::kScript;
  throw InputError({}, "--emit: unknown form '" + text + "'", "exo, c, trace or script");
}

// A script with a `search` line, its holes filled by the cost model: nothing runs.
std::string filled(Workspace& workspace, const KernelInput& input, const std::string& script,
                   const ScheduleOptions& options) {
  ScriptNames names = script_names(workspace, input, options.target);
  CompletionRequest request;
  request.script = script;
  request.file = options.script;
  request.environment = names.environment;
  request.baseline = false;
  TuneRequest& tune = request.tune;
  tune.target = names.targets.front();
  tune.machine = workspace.machine();
  tune.effort = Effort::kEstimate;
  tune.proc = input.proc;
  tune.kernel = described(input, options.kernel);
  if (input.entry != nullptr) {
    tune.representative = input.entry->sizes.front();
  } else {
    for (const Arg& arg : input.proc->args)  // what a symbolic size is judged at
      if (is_control(arg.type.scalar)) tune.representative[arg.name.name()] = 64;
  }
  const auto nothing_kept = make_memory_store();
  const Completion done = complete(request, *nothing_kept);
  if (!done.proc)
    throw Error(Diagnostic{{},
                           "the search found nothing for " + options.script,
                           {LazyText(done.statistics.first_refusal)},
                           "exo-tune complete " + options.script + " -v says more"},
                ExitCode::kNoCandidate);
  return done.script;
}

// What is printed: both files, or where there is a folder the names of those written into it.
std::string emit_code(const ScheduleOptions& options, const std::vector<TargetPtr>& targets,
                      const std::vector<ProcPtr>& procs) {
  CodegenOptions code = code_for(targets, procs, false);
  code.stem = options.stem.empty() ? procs.front()->name : options.stem;
  const CFile file =
      procs.size() == 1 ? generate_kernel(procs.front(), code) : generate_c(procs, code);
  if (options.folder.empty())
    return "/* ---- " + code.stem + ".h ---- */\n" + file.h + "\n/* ---- " + code.stem +
           ".c ---- */\n" + file.c;
  const std::string base = (std::filesystem::path(options.folder) / code.stem).string();
  write_text_file(base + ".h", file.h);
  write_text_file(base + ".c", file.c);
  return base + ".c\n" + base + ".h\n";
}

ExitCode apply(const Session& session, const ScheduleOptions& options) {
  const Emit emit = parse_emit(options.emit);
  set_proofs_directory(options.proofs);
  Workspace workspace(session);
  std::string script;
  if (!options.script.empty()) script = read_text_file(options.script);
  const KernelInput input = options.script.empty()
                                ? workspace.kernel(options.kernel, /*all_procs=*/true)
                                : workspace.kernel(options.kernel, script, options.script);

  std::vector<ProcPtr> procs;
  std::vector<TargetPtr> targets;
  if (options.script.empty()) {
    procs = input.proc != nullptr ? std::vector<ProcPtr>{input.proc} : input.module.user_procs();
  } else {
    if (has_hole(script, options.script)) script = filled(workspace, input, script, options);
    const Replayed replayed = replay(workspace, input, script, options.script, options.target);
    targets = replayed.targets;
    procs = {replayed.proc};
  }

  std::string out;
  switch (emit) {
    case Emit::kExo:
      for (const ProcPtr& proc : procs) out += (out.empty() ? "" : "\n") + str(*proc);
      break;
    case Emit::kTrace:
      for (const ProcPtr& proc : procs) out += trace_script(proc);
      break;
    case Emit::kScript:
      out = script;
      break;
    case Emit::kC:
      out = emit_code(options, targets, procs);
      break;
  }
  std::fputs(out.c_str(), stdout);
  return ExitCode::kOk;
}

ExitCode schedule(const Session& session, const ScheduleOptions& options) {
  const ExitCode code = apply(session, options);
  if (options.verbose) std::fprintf(stderr, "solver   %s\n", solver_report().c_str());
  return code;
}

}  // namespace

void add_schedule_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<ScheduleOptions>();
  app.add_option("kernel", options->kernel, "a built-in kernel, FILE.exo or FILE.exo:proc")
      ->required();
  app.add_option("script", options->script,
                 "FILE.sched; without one the file is checked and printed");
  app.add_option("--target", options->target, "whose instructions the script may name");
  app.add_option(
      "--emit", options->emit,
      "exo (default), c, trace: the script of primitives, or script: yours, its holes filled");
  app.add_option("-o", options->folder, "with --emit c: write STEM.c and STEM.h into this folder");
  app.add_option("--stem", options->stem, "names the C files (default: the procedure's name)");
  app.add_option("--proofs", options->proofs, "write each solver query here as SMT-LIB 2");
  app.add_flag("-v", options->verbose, "how many questions the proofs took, by tier, and the time");
  app.callback([&session, options] {
    session.action = [&session, options] { return schedule(session, *options); };
  });
}

}  // namespace exotune::cli
