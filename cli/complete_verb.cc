// exo-tune complete FILE.sched [KERNEL]: a partial schedule, finished by search; writes the result.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/interrupt.h"
#include "cli/replay.h"
#include "cli/result_files.h"
#include "cli/result_text.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/trust.h"
#include "cli/tune_options.h"
#include "cli/verbs.h"
#include "core/analysis/queries.h"
#include "core/base/deadline.h"
#include "search/complete/completion.h"

namespace exotune::cli {
namespace {

struct CompleteOptions {
  std::string script, kernel, peak;
  SizeOption size;
  TuneOptions tune;
  bool no_baseline = false;
};

// The kernel's name: as given, else what the script's first `p = NAME` names.
std::string kernel_of(const CompleteOptions& options, const std::string& text,
                      Workspace& workspace) {
  if (!options.kernel.empty()) return options.kernel;
  const ScheduleAst ast = parse_schedule(text, options.script);
  for (const ScheduleStmt& s : ast.stmts) {
    const bool binds = s.target.kind == ScheduleExpr::Kind::kName && s.target.text == "p" &&
                       s.value.kind == ScheduleExpr::Kind::kName;
    if (!binds) continue;
    if (workspace.kernels().find(s.value.text) != nullptr) return s.value.text;
    throw InputError(s.where, "no built-in kernel is called '" + s.value.text + "'",
                     "name its file: exo-tune complete " + options.script + " FILE.exo");
  }
  throw InputError({}, options.script + " does not say which kernel it schedules",
                   "begin with `p = sgemm`, or name the file: exo-tune complete " + options.script +
                       " FILE.exo");
}

Sizes representative(const CompleteOptions& options, const KernelInput& input) {
  std::vector<std::string> names;
  for (const Arg& arg : input.proc->args)
    if (is_control(arg.type.scalar)) names.push_back(arg.name.name());
  const std::vector<Sizes> given = options.size.values(names, true);
  if (given.size() > 1)
    throw InputError({}, "a schedule is completed at one size", "--size M=512,N=512,K=512");
  Sizes sizes = given.empty() ? Sizes{} : given.front();
  if (input.entry != nullptr)
    for (const auto& [name, value] : input.entry->sizes.front()) sizes.emplace(name, value);
  return sizes;
}

CompletionRequest completion_request(const CompleteOptions& options, Workspace& workspace,
                                     const Session& session, const std::string& name,
                                     const std::string& text) {
  const KernelInput input = workspace.kernel(name, text, options.script);
  CompletionRequest request;
  request.script = text;
  request.file = options.script;
  TuneRequest& tune = request.tune;
  tune.kernel = described(input, name);
  tune.proc = input.proc;
  tune.representative = representative(options, input);
  options.tune.fill(tune, workspace, session);
  request.environment = script_names(workspace, input, tune.target->name).environment;
  if (!options.tune.target().empty())
    request.environment = script_names(workspace, input, options.tune.target()).environment;
  request.baseline = !options.no_baseline && tune.effort != Effort::kEstimate;
  return request;
}

std::string completion_stem(const CompleteOptions& options) {
  if (!options.tune.stem().empty()) return options.tune.stem();
  return std::filesystem::path(options.script).stem().string();
}

// The user's file is the user's.
void require_other_file(const CompleteOptions& options) {
  const std::filesystem::path made =
      std::filesystem::path(options.tune.folder()) / (completion_stem(options) + ".sched");
  std::error_code ignored;
  if (std::filesystem::equivalent(made, options.script, ignored))
    throw InputError({}, "the result would replace " + options.script,
                     "give it another name with --stem, or another folder with -o");
}

ExitCode stopped_completing() {
  std::fputs(
      "interrupted; what was solved and every trial is kept: the same command goes on from "
      "here\n",
      stderr);
  return ExitCode::kInterrupted;
}

ExitCode run_completion(const Session& session, const CompleteOptions& options) {
  watch_interrupts();
  options.tune.check();
  Workspace workspace(session);
  const std::string text = read_text_file(options.script);
  const std::string name = kernel_of(options, text, workspace);
  CompletionRequest request = completion_request(options, workspace, session, name, text);
  options.tune.require_native(request.tune);
  if (options.tune.dry()) {
    std::printf("%s\n", plan_text(request.tune).c_str());
    return ExitCode::kOk;
  }
  require_writable_folder(options.tune.folder());
  require_other_file(options);
  const auto store = open_store(options.tune.database(session));
  if (!options.tune.target().empty()) trust(*request.tune.target, *store);
  const Deadline deadline =
      Deadline::after(request.tune.time_budget_seconds).or_when([] { return interrupted(); });
  Completion done = options.tune.with_progress(request.tune, session, [&](const TuneHooks& hooks) {
    return complete(request, *store, hooks);
  });
  if (!done.proc) {
    if (interrupted()) return stopped_completing();
    TuneResult failed = done.result;
    failed.statistics = done.statistics;
    options.tune.refuse(done.request, failed, session.command);
  }
  check(*done.proc);
  TuneResult result = std::move(done.result);
  result.winner = done.proc;
  result.script = done.script;
  result.statistics = done.statistics;
  const std::optional<Roofline> roofline = find_roofline(done.request, result, *store, deadline);
  const auto files = write_result(
      done.request, result,
      {name, options.tune.target(), completion_stem(options), options.tune.folder(), roofline});
  std::fputs(result_text(done.request, result, files, options.tune.verbose(), roofline).c_str(),
             stdout);
  return interrupted() ? stopped_completing() : ExitCode::kOk;
}

}  // namespace

void add_complete_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<CompleteOptions>();
  app.add_option("script", options->script,
                 "FILE.sched: your steps, with search(p) where the "
                 "search goes on (default: at the end)")
      ->required();
  app.add_option("kernel", options->kernel,
                 "a built-in kernel, FILE.exo or FILE.exo:proc (default: what the script names)");
  options->size.add(app);
  app.add_flag("--no-baseline", options->no_baseline,
               "do not measure the winner without your lines beside it");
  options->tune.add(app);
  app.callback([&session, options] {
    // As `schedule` and `verify` have them: the kernel first.
    if (options->kernel.ends_with(".sched")) std::swap(options->script, options->kernel);
    session.action = [&session, options] { return run_completion(session, *options); };
  });
}

}  // namespace exotune::cli
