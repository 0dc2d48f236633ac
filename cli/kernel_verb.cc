// exo-tune kernel NAME|FILE.exo[:proc]: search, verify, measure; writes the winner. No name: every
// built-in kernel in turn.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <thread>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/result_files.h"
#include "cli/result_text.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "cli/workspace.h"

namespace exotune::cli {
namespace {

struct KernelOptions {
  std::string kernel, target, runner = "native", effort = "measure", folder = "out", stem, peak;
  std::string time_budget, timeout = "2s";
  SizeOption size;
  DatabaseOption database;
  FormatOption format;
  TuneRequest defaults;
  bool any_size = false, dry = false, quiet = false, verbose = false, no_progress = false;
  bool no_peers = false;
};

Effort parse_effort(const std::string& text) {
  if (text == "estimate") return Effort::kEstimate;
  if (text == "measure") return Effort::kMeasure;
  if (text == "patient") return Effort::kPatient;
  if (text == "exhaustive") return Effort::kExhaustive;
  const std::string near = nearest(text, {"estimate", "measure", "patient", "exhaustive"});
  throw InputError(
      {}, "--effort: unknown effort '" + text + "'",
      near.empty() ? "estimate, measure, patient or exhaustive" : "did you mean '" + near + "'?");
}

// What an effort means where the user named no limits of their own.
struct Limits {
  int beam, trials;
  double seconds;
};

Limits limits_of(Effort effort) {
  switch (effort) {
    case Effort::kEstimate:
      return {16, 200, 60};
    case Effort::kMeasure:
      return {16, 200, 240};
    case Effort::kPatient:
      return {48, 1000, 1800};
    case Effort::kExhaustive:
      return {128, 10000, 14400};
  }
  return {};
}

void check_runner(const std::string& runner) {
  if (runner == "native") return;
  throw Error(Diagnostic{{}, "--runner: no runner '" + runner + "'", {}, "exo-tune list runners"},
              ExitCode::kUnavailable);
}

std::vector<std::string> size_names(const Proc& proc) {
  std::vector<std::string> names;
  for (const Arg& arg : proc.args)
    if (is_control(arg.type.scalar)) names.push_back(arg.name.name());
  return names;
}

// The sizes to tune at, one run each; without --size the first of the kernel's table.
std::vector<Sizes> sizes_of(const KernelOptions& options, const KernelInput& input) {
  const std::vector<std::string> names = size_names(*input.proc);
  std::vector<Sizes> all = options.size.values(names);
  if (all.empty() && input.entry != nullptr) all.push_back(input.entry->sizes.front());
  if (all.empty() && !names.empty()) {
    std::string example;
    for (const std::string& name : names) example += (example.empty() ? "" : ",") + name + "=64";
    throw InputError({}, "at which size is " + input.name + " to be measured?",
                     "--size " + example);
  }
  if (all.empty()) all.push_back({});
  return all;
}

TuneRequest request_for(const KernelOptions& options, Workspace& workspace,
                        const KernelInput& input, const Sizes& sizes) {
  TuneRequest request = options.defaults;
  if (input.entry != nullptr) {
    request.kernel = *input.entry;
  } else {
    request.kernel.name = input.name;
    request.kernel.file = split_file_and_proc(options.kernel).file;
    request.kernel.proc = input.proc->name;
  }
  request.proc = input.proc;
  request.representative = sizes;
  // A kernel of the table is for every size unless one was asked for.
  if (options.size.given() && !options.any_size) request.sizes = sizes;
  request.target = workspace.target(options.target);
  workspace.require_runnable(*request.target);
  request.machine = workspace.machine();
  request.effort = parse_effort(options.effort);
  const Limits limits = limits_of(request.effort);
  if (request.beam == 0) request.beam = limits.beam;
  if (request.trials == 0) request.trials = limits.trials;
  request.time_budget_seconds = limits.seconds;
  request.with_peers = !options.no_peers;
  request.timeout_seconds = parse_duration("--timeout", options.timeout);
  if (!options.time_budget.empty())
    request.time_budget_seconds = parse_duration("--time-budget", options.time_budget);
  return request;
}

// One run of the tuner with its progress line.
TuneResult tune_one(const TuneRequest& request, Store& store, const KernelOptions& options,
                    const Session& session) {
  const std::string unit = request.kernel.flops.text().empty() ? "GB/s" : "GFLOP/s";
  ProgressLine line(request.kernel.name + " " + request.target->name, unit,
                    request.time_budget_seconds,
                    session.terminal && !options.quiet && !options.no_progress);
  TuneHooks hooks;
  hooks.progress = [&](const Progress& progress) { line.show(progress); };
  hooks.interrupted = interrupted;
  return tune(request, store, hooks);
}

std::string stem_of(const KernelOptions& options, const TuneRequest& request, bool several) {
  if (!options.stem.empty() && !several) return options.stem;
  std::string stem =
      options.stem.empty() ? request.kernel.name : options.stem + "_" + request.kernel.name;
  if (several && !request.sizes.empty())
    for (const auto& [name, value] : request.sizes) stem += "_" + name + std::to_string(value);
  return stem;
}

std::string command_again(const KernelOptions& options, const TuneRequest& request) {
  const std::string name = options.kernel.empty() ? request.kernel.name : options.kernel;
  std::string text = "exo-tune kernel " + name + " --target " + request.target->name;
  if (!request.representative.empty()) text += " --size " + str(request.representative);
  if (request.sizes.empty() && !request.representative.empty()) text += " --any-size";
  return text;
}

[[noreturn]] void refuse_no_candidate(const KernelOptions& options, const TuneRequest& request,
                                      const TuneResult& result) {
  Diagnostic diagnostic;
  diagnostic.message =
      LazyText("no valid candidate for " + request.kernel.name + " on " + request.target->name);
  for (const auto& [cause, count] : result.statistics.causes)
    diagnostic.notes.push_back(LazyText(std::to_string(count) + " candidates: " + cause));
  for (const std::string& failure : result.failures) diagnostic.notes.push_back(LazyText(failure));
  if (!result.statistics.first_refusal.empty())
    diagnostic.notes.push_back(LazyText("a refused step: " + result.statistics.first_refusal));
  diagnostic.hint =
      LazyText("again, from nothing: " + command_again(options, request) + " --fresh -v");
  throw Error(std::move(diagnostic), ExitCode::kNoCandidate);
}

void require_peak(const KernelOptions& options, const TuneResult& result) {
  if (options.peak.empty()) return;
  const double wanted = parse_fraction("--require-peak", options.peak);
  const double reached = result.peak_gflops > 0 ? result.gflops / result.peak_gflops : 0;
  if (reached < wanted)
    throw Error(Diagnostic{{},
                           "reached " + number(100 * reached) + " % of peak, " +
                               number(100 * wanted) + " % were required",
                           {},
                           "try --effort patient, or more --trials"},
                ExitCode::kRequirement);
}

struct Job {
  TuneRequest request;
  std::string name;  // as a record names the kernel
};

std::vector<Job> jobs_of(const KernelOptions& options, Workspace& workspace) {
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name) {
    const KernelInput input = workspace.kernel(name);
    for (const Sizes& sizes : sizes_of(options, input))
      jobs.push_back({request_for(options, workspace, input, sizes), name});
  };
  if (!options.kernel.empty()) {
    add(options.kernel);
  } else {
    if (options.size.given())
      throw InputError({}, "--size needs a kernel's name",
                       "exo-tune kernel sgemm --size M=512,N=512,K=512");
    for (const KernelEntry& entry : workspace.kernels().kernels()) add(entry.name);
  }
  return jobs;
}

ExitCode run_jobs(const Session& session, const KernelOptions& options) {
  watch_interrupts();
  const Format format = options.format.value();
  check_runner(options.runner);
  if (!options.peak.empty()) parse_fraction("--require-peak", options.peak);
  Workspace workspace(session);
  const std::vector<Job> jobs = jobs_of(options, workspace);
  if (options.dry) {
    for (const Job& job : jobs) std::printf("%s\n", plan_text(job.request).c_str());
    return ExitCode::kOk;
  }
  require_writable_folder(options.folder);
  const auto store = open_store(options.database.path(session));
  const bool several = jobs.size() > 1;
  Table table = result_table();
  int without_winner = 0;
  for (const Job& job : jobs) {
    const TuneResult result = tune_one(job.request, *store, options, session);
    if (result.winner == nullptr) {
      if (interrupted()) break;
      if (!several) refuse_no_candidate(options, job.request, result);
      ++without_winner;
      table.add(result_row(job.request, result, ""));
      continue;
    }
    const std::string stem = stem_of(options, job.request, several);
    const auto files = write_result(job.request, result, {job.name, stem, options.folder});
    table.add(result_row(job.request, result, files.front().string()));
    if (several && !options.quiet)
      std::fprintf(stderr, "%s\n", result_line(job.request, result).c_str());
    if (!several && format == Format::kTable)
      std::fputs(result_text(job.request, result, files, options.verbose).c_str(), stdout);
    if (!several && !interrupted()) require_peak(options, result);
    if (interrupted()) break;
  }
  if (several || format != Format::kTable) std::fputs(table.str(format).c_str(), stdout);
  if (interrupted()) {
    std::fputs("interrupted; every trial is kept: the same command goes on from here\n", stderr);
    return ExitCode::kInterrupted;
  }
  return without_winner > 0 ? ExitCode::kNoCandidate : ExitCode::kOk;
}

}  // namespace

void add_kernel_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<KernelOptions>();
  TuneRequest& defaults = options->defaults;
  defaults.beam = defaults.trials = 0;  // not given: as the effort says
  defaults.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  app.add_option("kernel", options->kernel,
                 "a built-in kernel, FILE.exo or FILE.exo:proc; none: all built-in ones");
  app.add_option("--target", options->target,
                 "a target's name or folder (default: the best this machine runs)");
  app.add_option("--runner", options->runner, "native");
  options->size.add(app);
  app.add_flag("--any-size", options->any_size,
               "the result is for every size; --size is where it is measured");
  app.add_option("--effort", options->effort,
                 "estimate, measure, patient or exhaustive (default measure)");
  app.add_option("--beam", defaults.beam, "schedules kept per stage")->check(CLI::PositiveNumber);
  app.add_option("--trials", defaults.trials, "candidates measured at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--time-budget", options->time_budget, "for each kernel: 90s, 10m");
  app.add_option("--timeout", options->timeout, "for each candidate (default 2s)");
  app.add_option("--top-k", defaults.top_k, "finalists of the shoot-out")
      ->check(CLI::PositiveNumber);
  app.add_option("--reps", defaults.rounds, "rounds of the shoot-out")->check(CLI::PositiveNumber);
  app.add_option("--jobs", defaults.jobs, "compilers at once")->check(CLI::PositiveNumber);
  app.add_option("--seed", defaults.seed, "of the search");
  app.add_flag("--no-peers", options->no_peers, "do not measure other libraries");
  app.add_flag("--fresh", defaults.fresh, "measure again what the database already holds");
  options->database.add(app);
  app.add_option("-o", options->folder, "where STEM.c .h .sched .json go (default out)");
  app.add_option("--stem", options->stem, "names the files (default: the kernel's name)");
  options->format.add(app);
  app.add_option("--require-peak", options->peak, "exit 4 below this share of peak: 80%");
  app.add_flag("-n", options->dry, "say what would be done");
  app.add_flag("-q", options->quiet, "no progress, no notes");
  app.add_flag("-v", options->verbose, "refusals and causes too");
  app.add_flag("--no-progress", options->no_progress, "no progress line");
  app.callback([&session, options] {
    session.action = [&session, options] { return run_jobs(session, *options); };
  });
}

}  // namespace exotune::cli
