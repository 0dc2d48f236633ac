// exo-tune bench: a schedule against its peers, paired and interleaved in one process.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/comparison.h"
#include "cli/counted.h"
#include "cli/library_comparison.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/replay.h"
#include "cli/runner_choice.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "runners/toolchain.h"
#include "search/compilation.h"

namespace exotune::cli {
namespace {

struct BenchOptions {
  LibraryComparison library;
  std::string what, script, target, runner;
  double timeout = 60;  // nests as written take long
  DatabaseOption database;
  FormatOption format;
  SizeOption size;
  ComparisonOptions comparison;
};

// A script that was named, else the record of a file or what the database knows of a kernel.
Record chosen(Workspace& workspace, const Session& session, const BenchOptions& options) {
  if (options.script.empty()) {
    return find_record(workspace, options.what, options.database.path(session), options.target,
                       options.size.single());
  }
  Record record;
  record.kernel = options.what;
  record.script = read_text_file(options.script);
  record.script_name = record.origin = options.script;
  return record;
}

std::string example_sizes(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name + "=64";
  return text;
}

// What to measure at: as asked, else what the record was tuned at, else what the script fixes, else
// the table's first.
std::vector<Sizes> bench_sizes(const BenchOptions& options, const KernelInput& input,
                               const Record& record, const Sizes& fixed) {
  std::vector<std::string> names;
  for (const Arg& arg : input.proc->args)
    if (is_control(arg.type.scalar)) names.push_back(arg.name.name());
  std::vector<Sizes> all = options.size.values(names);
  if (all.empty() && !record.sizes.empty()) all.push_back(record.sizes);
  if (all.empty() && !record.measured_at.empty()) all.push_back(record.measured_at);
  const bool settled = std::all_of(names.begin(), names.end(),
                                   [&](const std::string& n) { return fixed.count(n) > 0; });
  if (all.empty() && settled && !fixed.empty()) all.push_back(fixed);
  if (all.empty() && input.entry != nullptr) all.push_back(input.entry->sizes.front());
  if (all.empty() && !names.empty())
    throw InputError({}, "at which size?", "--size " + example_sizes(names));
  if (all.empty()) all.push_back({});
  for (const Sizes& sizes : all)
    for (const auto& [name, value] : fixed)
      if (const auto it = sizes.find(name); it != sizes.end() && it->second != value)
        throw InputError({}, "this schedule is for " + str(fixed) + " only, not " + str(sizes),
                         "tune for it: exo-tune kernel " + record.kernel + " --size " + str(sizes));
  return all;
}

// Of a library for several targets the first that the CPU has is what runs: the others would be
// held to less than it.
void require_taken(Workspace& workspace, const std::string& folder, const std::string& wanted) {
  for (const std::string& name : targets_of_library(folder)) {
    if (!missing_features(workspace.machine(), *workspace.target(name)).empty()) continue;
    if (name == wanted) return;
    throw InputError({}, folder + " runs its code for " + name + " on this CPU, not for " + wanted,
                     "one for it alone: exo-tune family all --target " + wanted + " -o DIR");
  }
}

ExitCode bench_library(const Session& session, const BenchOptions& options) {
  LibraryComparison request = options.library;
  request.folder = options.what;
  request.only_peers = options.comparison.only_peers;
  request.threads = std::max(1, options.comparison.threads);
  request.format = options.format.value();
  Workspace workspace(session);
  const TargetPtr target = workspace.target(options.target);
  if (!options.target.empty()) require_taken(workspace, options.what, target->name);
  request.target = target;
  request.vector_bytes = 4 * target->lanes_of(ScalarType::kF32);
  return compare_library(request);
}

// Compiles, checks, then the shoot-out: the same fair rounds as at the end of a search, so that
// figures may be compared.
ExitCode bench(const Session& session, const BenchOptions& options) {
  const Format format = options.format.value();
  if (options.script.empty() && is_blas_library(options.what))
    return bench_library(session, options);
  Workspace workspace(session);
  const Record record = chosen(workspace, session, options);
  const KernelInput input = workspace.kernel(record.kernel, record.script, record.script_name);
  const std::string target_name = options.target.empty() ? record.target : options.target;
  const Replayed replayed =
      replay(workspace, input, record.script, record.script_name, target_name);
  const Target& target = *replayed.targets.front();
  // Null: this machine, where it meets its peers.
  const std::unique_ptr<Runner> counting =
      choose_runner(target, options.runner, session.data.targets / "runners", 1);
  if (!counting) workspace.require_runnable(target);
  const std::string database = options.database.path(session);
  const bool has_store = std::filesystem::exists(database);
  require_trusted(workspace, record, input, target, !options.target.empty(),
                  has_store ? open_store(database, OpenMode::kReadOnly).get() : nullptr);

  const KernelEntry entry = described(input, record.kernel);
  Table table = counting ? counted_table() : comparison_table();
  bool valid = true;
  std::string cause, hint;
  for (const Sizes& sizes : bench_sizes(options, input, record, replayed.fixed)) {
    const TuningProblem problem =
        counting ? counted_problem(input, sizes, target) : make_problem(input.proc, sizes);
    Candidate candidate = make_candidate(replayed.proc, target, problem);
    if (counting) {
      const TrialResult counted =
          add_counted(*counting, candidate, entry, problem, target, options.timeout, table);
      if (!counted.ok()) {
        valid = false;
        cause = str(sizes) + ": " + status_name(counted.status) + ": " + counted.cause;
        hint = hint_for(counted.status);
      }
      continue;
    }
    candidate = compiled_as(std::move(candidate), compilation_asked(record.script));
    ComparisonOptions comparing = options.comparison;
    if (comparing.threads < 1) comparing.threads = record.threads;
    comparing.fixed = replayed.fixed;
    const Comparison comparison = compare_with_peers(candidate, &entry, problem, target, comparing);
    add_rows(comparison, table);
    const ContenderResult& ours = comparison.result.contenders.front();
    if (ours.status != TrialStatus::kOk) {
      valid = false;
      cause = str(sizes) + ": " + status_name(ours.status) + ": " + ours.cause;
    }
  }
  std::fputs(table.str(format).c_str(), stdout);
  if (!valid)
    throw Error(Diagnostic{{}, "the schedule's code did not pass its check at " + cause, {}, hint},
                ExitCode::kMismatch);
  return ExitCode::kOk;
}

}  // namespace

void add_bench_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("what", options->what,
                 "a kernel (its winner), a candidate's id, a folder or .json that kernel wrote, "
                 "FILE.exo[:proc], or a folder that family wrote")
      ->required();
  app.add_option("script", options->script, "FILE.sched: measure this schedule of the kernel");
  app.add_option("--target", options->target, "whose instructions, compiler and peak");
  app.add_option("--runner", options->runner,
                 "where it is counted: sim, spike, ... or FILE.toml (default: the target's own)");
  app.add_option("--timeout", options->timeout,
                 "seconds for a run that is counted, of a machine of 10^9 instructions a second "
                 "(default 60)")
      ->check(CLI::PositiveNumber);
  options->size.add(app);
  options->database.add(app);
  options->format.add(app);
  app.add_option("--peers", options->comparison.only_peers,
                 "only these: openblas, blis, onednn, eigen, c")
      ->delimiter(',');
  options->comparison.threads = 0;  // not given: as the record says
  app.add_option("--threads", options->comparison.threads,
                 "of everyone (default: as many as it was tuned for; of a library 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options->comparison.rounds,
                 "of the interleaved measurement (default 15)");
  app.add_option(
         "--routines", options->library.routines,
         "of a library, only these, in all variants (of gemm with beta 1 and 0): gemv, axpy, ...")
      ->delimiter(',');
  app.add_option("--most", options->library.most, "of a library, no size above this")
      ->check(CLI::PositiveNumber);
  app.add_option("-o", options->library.page,
                 "of a library, where the heat map goes (default DIR/heat-map.html)");
  app.add_flag("--cold", options->comparison.cold, "flush the caches before each timed call");
  app.callback([&session, options] {
    session.action = [&session, options] { return bench(session, *options); };
  });
}

}  // namespace exotune::cli
