// exo-tune schedule FILE.exo[:proc] [FILE.sched]: applies a script, no search, and prints the
// result.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/replay.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "core/codegen/codegen.h"
#include "core/library/ahead.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"

namespace exotune::cli {
namespace {

struct ScheduleOptions {
  std::string kernel, script, target, emit = "exo", folder, stem, proofs;
  bool verbose = false;
};

enum class Emit { kExo, kC, kTrace };

Emit parse_emit(const std::string& text) {
  if (text == "exo") return Emit::kExo;
  if (text == "c") return Emit::kC;
  if (text == "trace") return Emit::kTrace;
  throw InputError({}, "--emit: unknown form '" + text + "'", "exo, c or trace");
}

ExitCode apply(const Session& session, const ScheduleOptions& options) {
  const Emit emit = parse_emit(options.emit);
  set_proofs_directory(options.proofs);
  Workspace workspace(session);
  const KernelInput input = workspace.kernel(options.kernel, options.script.empty());

  std::vector<ProcPtr> procs;
  std::vector<std::string> headers;
  if (options.script.empty()) {
    procs = input.proc != nullptr ? std::vector<ProcPtr>{input.proc} : input.module.user_procs();
  } else {
    const Replayed replayed =
        replay(workspace, input, read_text_file(options.script), options.script, options.target);
    for (const TargetPtr& target : replayed.targets)
      headers.insert(headers.end(), target->compiler.headers.begin(),
                     target->compiler.headers.end());
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
    case Emit::kC: {
      CodegenOptions code;
      code.stem = options.stem.empty() ? procs.front()->name : options.stem;
      code.headers = headers;
      const CFile file =
          procs.size() == 1 ? generate_kernel(procs.front(), code) : generate_c(procs, code);
      if (!options.folder.empty()) {
        const std::filesystem::path base = std::filesystem::path(options.folder) / code.stem;
        write_text_file(base.string() + ".h", file.h);
        write_text_file(base.string() + ".c", file.c);
        std::printf("%s.c\n%s.h\n", base.c_str(), base.c_str());
        return ExitCode::kOk;
      }
      out = "/* ---- " + code.stem + ".h ---- */\n" + file.h + "\n/* ---- " + code.stem +
            ".c ---- */\n" + file.c;
      break;
    }
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
  app.add_option("--emit", options->emit, "exo (default), c, or trace: the script of primitives");
  app.add_option("-o", options->folder, "with --emit c: write STEM.c and STEM.h into this folder");
  app.add_option("--stem", options->stem, "names the C files (default: the procedure's name)");
  app.add_option("--proofs", options->proofs, "write each solver query here as SMT-LIB 2");
  app.add_flag("-v", options->verbose, "how many questions the proofs took, by tier, and the time");
  app.callback([&session, options] {
    session.action = [&session, options] { return schedule(session, *options); };
  });
}

}  // namespace exotune::cli
