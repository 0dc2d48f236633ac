// exo-tune kernel NAME|FILE.exo[:proc]: search, verify, measure; writes the winner. No name: every
// built-in kernel in turn.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/executor_option.h"
#include "cli/interrupt.h"
#include "cli/kernel_cluster.h"
#include "cli/machine_text.h"
#include "cli/options.h"
#include "cli/program.h"
#include "cli/replay.h"
#include "cli/result_files.h"
#include "cli/result_text.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/trust.h"
#include "cli/tune_options.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/base/deadline.h"
#include "runners/conditions.h"

namespace exotune::cli {
namespace {

struct KernelOptions {
  std::string kernel, peak;
  SizeOption size;
  FormatOption format;
  TuneOptions tune;
  ExecutorOption executor;
  std::vector<std::string> given;  // options that each search gets where others do it
  bool any_size = false;
};

std::vector<std::string> size_names(const Proc& proc) {
  std::vector<std::string> names;
  for (const Arg& arg : proc.args)
    if (is_control(arg.type.scalar)) names.push_back(arg.name.name());
  return names;
}

// The sizes to tune at, one run each; without --size the first of the kernel's table.
std::vector<Sizes> kernel_sizes(const KernelOptions& options, const KernelInput& input) {
  const std::vector<std::string> names = size_names(*input.proc);
  std::vector<Sizes> all = options.size.values(names);
  if (all.empty() && input.entry != nullptr) all.push_back(input.entry->sizes.front());
  if (all.empty() && !names.empty()) {
    std::string example;
    for (const std::string& name : names) example += (example.empty() ? "" : ",") + name + "=64";
    throw InputError({}, "at which size is " + input.name + " to be measured?",
                     "--size " + example + ", and --any-size if it is to work at any");
  }
  if (all.empty()) all.push_back({});
  return all;
}

TuneRequest tune_request(const KernelOptions& options, Workspace& workspace, const Session& session,
                         const KernelInput& input, const Sizes& sizes) {
  TuneRequest request;
  request.kernel = described(input, options.kernel);
  request.proc = input.proc;
  request.representative = sizes;
  if (input.entry == nullptr) request.rivals.push_back({"your loops", input.proc});
  // A kernel of the table is for every size unless one was asked for.
  if (options.size.given() && !options.any_size) request.sizes = sizes;
  options.tune.fill(request, workspace, session);
  return request;
}

// The stem of the files: the kernel's name, and its sizes where several would overwrite each other.
std::string stem_of(const KernelOptions& options, const TuneRequest& request, bool several) {
  const std::string& given = options.tune.stem();
  if (!given.empty() && !several) return given;
  std::string stem = given.empty() ? request.kernel.name : given + "_" + request.kernel.name;
  if (several && !request.sizes.empty())
    for (const auto& [name, value] : request.sizes) stem += "_" + name + std::to_string(value);
  return stem;
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

using Job = KernelJob;

// On an accelerator: kernels that none of its instructions has a part in stay away.
void drop_what_the_device_leaves(std::vector<Job>& jobs, const Session& session) {
  if (jobs.empty()) return;
  const Target& target = *jobs.front().request.target;
  if (target.runner.is_this_machine() || target.vector_memory) return;
  require(session.parts->device_serves, "plans for accelerators");
  std::erase_if(jobs, [&](const Job& job) {
    const TuneRequest& r = job.request;
    return !session.parts->device_serves(r.proc, r.sizes.empty() ? r.representative : r.sizes,
                                         *r.target);
  });
}

// One job for each kernel and size, all checked before the first one starts: a typo in the last of
// forty must not show after an hour.
std::vector<Job> jobs_of(const KernelOptions& options, Workspace& workspace,
                         const Session& session) {
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name) {
    const KernelInput input = workspace.kernel(name);
    for (const Sizes& sizes : kernel_sizes(options, input))
      jobs.push_back(
          {tune_request(options, workspace, session, input, sizes), name, options.size.given()});
  };
  if (!options.kernel.empty()) {
    add(options.kernel);
  } else {
    if (options.size.given())
      throw InputError({}, "--size needs a kernel's name",
                       "exo-tune kernel sgemm --size M=512,N=512,K=512");
    for (const KernelEntry& entry : workspace.kernels().kernels()) add(entry.name);
    drop_what_the_device_leaves(jobs, session);
  }
  return jobs;
}

// What the executor's machines found; nothing for each job where this one is to do it.
std::vector<std::optional<KernelAnswer>> answers_for(const std::vector<Job>& jobs,
                                                     const KernelOptions& options,
                                                     const Session& session, Workspace& workspace,
                                                     Store& store) {
  if (options.executor.local() || jobs.empty())
    return std::vector<std::optional<KernelAnswer>>(jobs.size());
  ElsewhereRequest request{jobs, options.given, options.tune.target(), options.tune.fresh(),
                           nullptr};
  if (!options.tune.quiet())
    request.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return session.parts->tune_elsewhere(request, options.executor, options.tune.database(session),
                                       store, workspace);
}

// Before anything is done: what this program lacks, another one does from the beginning.
void require_parts(const KernelOptions& options, const std::vector<Job>& jobs,
                   const Session& session) {
  if (!options.executor.local())
    return require(session.parts->tune_elsewhere, "other machines' answers");
  for (const Job& job : jobs) options.tune.require_parts(job.request, session);
}

// -n: what would be done, with every number and where it comes from; runs nothing.
ExitCode say_plans(const std::vector<Job>& jobs, bool verbose) {
  for (const Job& job : jobs) {
    std::printf("%s\n", plan_text(job.request).c_str());
    if (verbose) std::fputs(reckoning_text(job.request, nullptr).c_str(), stdout);
  }
  return ExitCode::kOk;
}

// One job's files and its text, or a line of it where there are several; the row of the table.
std::vector<std::string> report(const KernelOptions& options, const Job& job,
                                const TuneResult& result, const std::optional<Roofline>& roofline,
                                bool several) {
  const auto files =
      write_result(job.request, result,
                   {job.name, options.tune.target(), stem_of(options, job.request, several),
                    options.tune.folder(), roofline});
  if (several && !options.tune.quiet())
    std::fprintf(stderr, "%s\n", result_line(job.request, result).c_str());
  if (!several && options.format.value() == Format::kTable)
    std::fputs(result_text(job.request, result, files, options.tune.verbose(), roofline).c_str(),
               stdout);
  return result_row(job.request, result, files.front().string());
}

// All options that can be refused without looking at a kernel.
void check_options(const Session& session, KernelOptions& options) {
  options.executor.read(session);
  if (!options.executor.local()) options.tune.run_elsewhere();
  options.format.value();
  options.tune.check();
  if (!options.peak.empty()) parse_fraction("--require-peak", options.peak);
}

void note_load(const Session& session, const KernelOptions& options, int cores) {
  if (!session.terminal || options.tune.quiet()) return;
  if (const std::string load = load_warning(cores); !load.empty())
    std::fprintf(stderr, "note: %s\n", load.c_str());
}

ExitCode exit_code_of(int without_winner) {
  if (!interrupted()) return without_winner > 0 ? ExitCode::kNoCandidate : ExitCode::kOk;
  std::fputs("interrupted; every trial is kept: the same command goes on from here\n", stderr);
  return ExitCode::kInterrupted;
}

// Jobs one after the other; an interrupt ends the present one with what it found, and the rest is
// left with a line that says so.
ExitCode run_jobs(const Session& session, KernelOptions& options) {
  watch_interrupts();
  check_options(session, options);
  const Format format = options.format.value();
  Workspace workspace(session);
  const std::vector<Job> jobs = jobs_of(options, workspace, session);
  if (options.tune.dry()) return say_plans(jobs, options.tune.verbose());
  require_parts(options, jobs, session);
  require_writable_folder(options.tune.folder());
  note_load(session, options, workspace.machine().cores);
  const auto store = open_store(options.tune.database(session));
  if (!jobs.empty() && !options.tune.target().empty()) trust(*jobs.front().request.target, *store);
  const bool several = jobs.size() > 1;
  Table table = result_table();
  int without_winner = 0;
  std::vector<std::optional<KernelAnswer>> answers =
      answers_for(jobs, options, session, workspace, *store);
  for (size_t k = 0; k < jobs.size(); ++k) {
    Job job = jobs[k];
    if (answers[k]) job.request.machine.microarch = answers[k]->microarch;
    if (!answers[k] && !options.executor.local()) break;  // interrupted
    const Deadline deadline =
        Deadline::after(job.request.time_budget_seconds).or_when([] { return interrupted(); });
    TuneResult result = answers[k] ? std::move(answers[k]->result)
                                   : options.tune.tune(job.request, *store, session);
    if (result.winner == nullptr) {
      if (interrupted()) break;
      if (!several) options.tune.refuse(job.request, result, session.command);
      ++without_winner;
      table.add(result_row(job.request, result, ""));
      continue;
    }
    result.winner = replayed(workspace, workspace.kernel(job.name), result.script,
                             options.tune.target(), result.winner);
    const std::optional<Roofline> roofline =
        answers[k] ? answers[k]->roofline : find_roofline(job.request, result, *store, deadline);
    table.add(report(options, job, result, roofline, several));
    if (!several && !interrupted()) require_peak(options, result);
    if (interrupted()) break;
  }
  if (several || format != Format::kTable) std::fputs(table.str(format).c_str(), stdout);
  return exit_code_of(without_winner);
}

}  // namespace

void add_kernel_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<KernelOptions>();
  app.add_option("kernel", options->kernel,
                 "a built-in kernel, FILE.exo or FILE.exo:proc; none: all built-in ones (on an "
                 "accelerator, those it has instructions for)");
  options->size.add(app);
  app.add_flag("--any-size", options->any_size,
               "the result is for every size; --size is where it is measured");
  options->tune.add(app);
  options->executor.add(app);
  options->format.add(app);
  app.add_option("--require-peak", options->peak, "exit 4 below this share of peak: 80%");
  app.callback([&session, &app, options] {
    std::vector<std::string> own = ExecutorOption::names();
    own.insert(own.end(), {"--target", "--size", "--sizes", "--db", "-o", "--stem", "--format",
                           "--fresh", "--require-peak", "-n", "-q", "-v", "--no-progress"});
    options->given = given_options(app, own);
    session.action = [&session, options] { return run_jobs(session, *options); };
  });
}

}  // namespace exotune::cli
