// exo-tune calibrate --target T: fits the cost model to runs on this machine, and says how well it
// orders runs it was not fitted to.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/calibrate_cluster.h"
#include "cli/executor_option.h"
#include "cli/figure_tables.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/shard_work.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "search/calibration.h"
#include "search/weights.h"

namespace exotune::cli {
namespace {

struct CalibrateOptions {
  std::string target, show, time_budget = "10m", timeout = "2s", held_back = "40%";
  std::vector<std::string> kernels, without, only;
  DatabaseOption database;
  FormatOption format;
  ExecutorOption executor;
  std::vector<std::string> measure_given, fit_given;  // options for other machines
  CalibrationRequest defaults;
  bool dry = false, quiet = false, estimate = false;

  // All parts where --only names none.
  bool wants(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
};

void check_name(const std::string& option, const std::string& name,
                const std::vector<std::string>& all) {
  if (std::find(all.begin(), all.end(), name) != all.end()) return;
  const std::string near = nearest(name, all);
  std::string list;
  for (const std::string& n : all) list += (list.empty() ? "" : ", ") + n;
  throw InputError({}, option + ": nothing is called '" + name + "'",
                   near.empty() ? "one of " + list : "did you mean '" + near + "'?");
}

// Without --kernel, those whose row in the table says at which sizes: together they touch the terms
// of the model.
std::vector<CalibrationKernel> kernels_of(const CalibrateOptions& options, Workspace& workspace) {
  std::vector<CalibrationKernel> out;
  const auto add = [&](const std::string& name) {
    const KernelInput input = workspace.kernel(name);
    if (input.entry == nullptr)
      throw InputError({}, "--kernel: '" + name + "' is not a built-in kernel",
                       "exo-tune list kernels");
    const KernelEntry& entry = *input.entry;
    out.push_back({entry, input.proc, entry.calibration.empty() ? entry.sizes : entry.calibration});
  };
  // A kernel without sizes of its own to calibrate at is drawn at those of the table.
  for (const std::string& name : options.kernels) add(name);
  if (options.kernels.empty())
    for (const KernelEntry& entry : workspace.kernels().kernels())
      if (!entry.calibration.empty()) add(entry.name);
  return out;
}

Table kernel_table(const CalibrationResult& result) {
  Table table(
      {"kernel", "runs", "held back", "spearman before", "least before", "after", "least after",
       "within sizes before", "within sizes after", "factor before", "factor after", "fit"},
      {"runs", "held back", "spearman before", "least before", "after", "least after",
       "within sizes before", "within sizes after", "factor before", "factor after"});
  for (const KernelSpread& k : result.kernels)
    table.add({k.kernel, std::to_string(k.runs), std::to_string(k.held_back),
               number(k.before.median), number(k.before.least), number(k.after.median),
               number(k.after.least), number(k.within_before.median), number(k.within_after.median),
               number(k.factor_before), number(k.factor_after),
               k.operation.empty() ? ""
               : k.worse()         ? "not used"
                                   : "used"});
  return table;
}

Table weight_table(const CalibrationResult& result) {
  Table table({"term", "cycles before", "after"}, {"cycles before", "after"});
  const std::vector<std::string> names = term_names();
  // Names and weights both stand in the order of the enumeration.
  for (size_t k = 0; k < kTerms; ++k)
    table.add({names[k], number(result.before.cycles[k]), number(result.after.cycles[k])});
  table.add({"hidden share", number(result.before.hidden), number(result.after.hidden)});
  return table;
}

Table run_table(const CalibrationResult& result) {
  std::vector<std::string> columns = {"kernel",          "sizes",  "candidate",
                                      "measured cycles", "before", "after"};
  const std::vector<std::string> names = term_names();
  columns.insert(columns.end(), names.begin(), names.end());
  columns.push_back("script");
  // Columns that a table aligns to the right and JSON writes as numbers.
  std::vector<std::string> numbers = names;
  numbers.insert(numbers.end(), {"measured cycles", "before", "after"});
  Table table(columns, numbers);
  for (const CalibrationSample& s : result.samples) {
    std::vector<std::string> row = {
        s.kernel,         s.sizes,          s.candidate_id.substr(0, 12),
        number(s.cycles), number(s.before), number(s.after)};
    for (const double count : s.features.count) row.push_back(number(count));
    row.push_back(s.script);
    table.add(std::move(row));
  }
  return table;
}

// The figures alone, or the one table of them that was asked for; false: the fit's tables follow.
bool print(const CalibrateOptions& options, const FoundFigures& found) {
  const Format format = options.format.value();
  if (options.show == "instructions" || options.show == "lines") {
    const Table table = options.show == "lines" ? line_table(found) : instruction_table(found);
    std::fputs(table.str(format).c_str(), stdout);
    return true;
  }
  // A table of the fit was asked for, so the figures stay unprinted.
  if (!options.show.empty()) return !options.wants("weights");
  if (options.wants("weights")) {
    // Machines read one table at a time.
    if (format == Format::kTable && options.wants("lines"))
      std::printf("%s\n", line_table(found).str(format).c_str());
    return false;
  }
  if (options.wants("instructions"))
    std::fputs(instruction_table(found).str(format).c_str(), stdout);
  if (options.wants("lines") && (format == Format::kTable || !options.wants("instructions")))
    std::fputs(line_table(found).str(format).c_str(), stdout);
  return true;
}

void print(const CalibrateOptions& options, const CalibrationResult& result) {
  const Format format = options.format.value();
  const std::string& show = options.show;
  if (show == "runs" || show == "weights" || show == "kernels" || format != Format::kTable) {
    const Table table = show == "runs"      ? run_table(result)
                        : show == "weights" ? weight_table(result)
                                            : kernel_table(result);
    std::fputs(table.str(format).c_str(), stdout);
    return;
  }
  std::fputs(kernel_table(result).str(format).c_str(), stdout);
  std::printf("\n");
  std::fputs(weight_table(result).str(format).c_str(), stdout);
}

void print_notes(const CalibrationResult& result) {
  std::fprintf(
      stderr, "%d schedules drawn, %d refused; %d measured, %d from the database; %s GHz\n",
      result.drawn, result.refused, result.measured, result.reused, number(result.ghz).c_str());
  for (const auto& [cause, count] : result.causes)
    std::fprintf(stderr, "%d runs: %s\n", count, cause.c_str());
  if (result.out_of_budget)
    std::fputs("the time budget ended it; the same command goes on from here\n", stderr);
}

ExitCode stopped() {
  std::fputs("interrupted; every run is kept: the same command goes on from here\n", stderr);
  return ExitCode::kInterrupted;
}

// A table of a fit is looked at: it is no order to measure for ten minutes.
void require_calibrated(const Session& session, const CalibrateOptions& options,
                        const Target& target, const Machine& machine) {
  // The others can be shown of what is being measured.
  if (options.show != "weights" && options.show != "kernels" && options.show != "runs") return;
  const std::string path = options.database.path(session);
  std::error_code ignored;
  // Opening would make an empty database.
  if (std::filesystem::exists(path, ignored)) {
    const auto store = open_store(path, OpenMode::kReadOnly);
    if (weights_of(target, machine, store.get()).fitted) return;
  }
  throw InputError({},
                   "nothing is fitted for " + target.name + " on this machine in '" + path + "'",
                   "exo-tune calibrate --target " + target.name + " measures and fits");
}

// With --executor, the same work in shards on other machines; this one collects and prints.
// Other machines measure and fit.
ExitCode run_elsewhere(const Session& session, const CalibrateOptions& options,
                       const CalibrationRequest& request, Workspace& workspace, Store& store) {
  CalibrateElsewhere elsewhere;
  elsewhere.target = request.target;
  elsewhere.target_typed = options.target;
  for (const CalibrationKernel& k : request.kernels) elsewhere.kernels.push_back(k.kernel.name);
  for (const char* part : {"instructions", "lines", "weights"})
    if (options.wants(part)) elsewhere.parts.push_back(part);
  elsewhere.measure_options = options.measure_given;
  elsewhere.fit_options = options.fit_given;
  elsewhere.fresh = request.fresh;
  if (!options.quiet)
    elsewhere.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const auto executor =
      options.executor.executor(fingerprint(request.machine, *request.target).hash,
                                options.database.path(session), shard_work(workspace));
  const std::optional<std::string> printed = calibrate_elsewhere(elsewhere, *executor, store);
  if (!printed) return stopped();
  std::fputs(printed->c_str(), stdout);
  return ExitCode::kOk;
}

// What the options ask of `workspace`, all of them checked.
CalibrationRequest calibration_request(const Session& session, const CalibrateOptions& options,
                                       Workspace& workspace) {
  CalibrationRequest request = options.defaults;
  request.held_back = parse_fraction("--held-back", options.held_back);
  if (request.held_back <= 0 || request.held_back >= 1)
    throw InputError({}, "--held-back: some runs are fitted and some are held back",
                     "a share between 0 and 100 %, such as 40%");
  for (const std::string& term : options.without) request.without.push_back(term_of(term));
  request.deadline =
      Deadline::after(parse_duration("--time-budget", options.time_budget)).or_when(interrupted);
  request.timeout_seconds = parse_duration("--timeout", options.timeout);
  request.target = workspace.target(options.target);
  request.machine = workspace.machine();
  if (options.executor.local())
    require_calibrated(session, options, *request.target, request.machine);
  // With an executor it is the nodes that have to run it.
  if (options.executor.local()) workspace.require_runnable(*request.target);
  request.kernels = kernels_of(options, workspace);
  return request;
}

void say_plan(const CalibrateOptions& options, const CalibrationRequest& request) {
  const char* target = request.target->name.c_str();
  if (options.wants("instructions"))
    std::printf("%zu instructions of %s\n", request.target->instructions().size(), target);
  if (!options.wants("weights")) return;
  for (const CalibrationKernel& k : request.kernels)
    std::printf("%s on %s: %d schedules over %zu sizes\n", k.kernel.name.c_str(), target,
                request.draws, k.sizes.size());
}

CalibrationHooks calibration_hooks(const Session& session, const CalibrateOptions& options) {
  CalibrationHooks hooks;
  // A line that writes over itself, for a person only.
  if (session.terminal && !options.quiet)
    hooks.progress = [](const std::string& what, int done, int planned) {
      std::fprintf(stderr, "\r\033[K[calibrate] %s %d/%d", what.c_str(), done, planned);
      if (done == planned) std::fputs("\r\033[K", stderr);
    };
  return hooks;
}

// Figures of the machine first: the fit needs them. An interrupted fit keeps the runs that were
// made; the next one goes on from there.
ExitCode run_calibration(const Session& session, CalibrateOptions& options) {
  // First of all: a signal during the probe is no crash.
  watch_interrupts();
  options.executor.read(session);
  options.format.value();
  if (!options.show.empty())
    check_name("--show", options.show, {"instructions", "lines", "kernels", "weights", "runs"});
  for (const std::string& part : options.only)
    check_name("--only", part, {"instructions", "lines", "weights"});
  Workspace workspace(session);
  const CalibrationRequest request = calibration_request(session, options, workspace);
  FigureWishes wishes;
  wishes.instructions = options.wants("instructions");
  wishes.lines = options.wants("lines");
  wishes.fresh = request.fresh;
  wishes.how.measure = !options.estimate;
  wishes.how.jobs = request.jobs;
  if (options.dry) {
    say_plan(options, request);
    return ExitCode::kOk;
  }
  const auto store = open_store(options.database.path(session));
  if (!options.executor.local()) return run_elsewhere(session, options, request, workspace, *store);
  // Proofs and compilers, too, end with the budget.
  const DeadlineScope scope(request.deadline);
  const FoundFigures found = find_figures(*request.target, request.machine, wishes, *store);
  // Figures are in the database already; nothing is lost.
  if (interrupted()) return stopped();
  if (!options.quiet && wishes.instructions)
    std::fprintf(stderr, "%zu of %zu instructions measured, %zu estimated\n",
                 found.instructions.measured.size(), found.instructions.rows.size(),
                 found.instructions.estimated.size());
  if (print(options, found)) return ExitCode::kOk;
  const CalibrationResult result = calibrate(request, *store, calibration_hooks(session, options));
  if (request.fit) print(options, result);
  if (!options.quiet) print_notes(result);
  return interrupted() ? stopped() : ExitCode::kOk;
}

}  // namespace

namespace {

void add_calibration_options(CLI::App& app, const std::shared_ptr<CalibrateOptions>& options) {
  CalibrationRequest& defaults = options->defaults;
  app.add_option("--target", options->target,
                 "a target's name or folder (default: the best this machine runs)");
  app.add_option("--only", options->only,
                 "parts of it: instructions, lines, weights (default: all)")
      ->delimiter(',');
  app.add_flag("--estimate", options->estimate, "instructions as llvm-mca sees them; none is run");
  app.add_option("--kernel", options->kernels,
                 "built-in kernels to learn from (default: those the table marks for it)")
      ->delimiter(',');
  app.add_option("--draws", defaults.draws, "schedules per kernel, over its sizes (default 240)")
      ->check(CLI::PositiveNumber);
  app.add_option("--passes", defaults.passes,
                 "times that each run is measured; the least time counts (default 3)")
      ->check(CLI::PositiveNumber);
  app.add_option("--held-back", options->held_back,
                 "share of the runs that judge the fit (default 40%)");
  app.add_option("--splits", defaults.splits,
                 "times that other runs are held back, of which the median and the least count "
                 "(default 10)")
      ->check(CLI::PositiveNumber);
  app.add_option("--without", options->without, "terms of the cost to switch off")->delimiter(',');
  app.add_option("--time-budget", options->time_budget, "for everything (default 10m)");
  app.add_option("--timeout", options->timeout, "for each candidate (default 2s)");
  app.add_option("--jobs", defaults.jobs, "compilers at once")->check(CLI::PositiveNumber);
  app.add_option("--seed", defaults.seed, "of the schedules, and of what is held back");
  app.add_flag("--fresh", defaults.fresh, "measure again what the database already holds");
  options->database.add(app);
  options->format.add(app);
  app.add_option("--show", options->show,
                 "one table: instructions, lines, kernels, weights, or runs with their counts "
                 "(default: lines, kernels, weights)");
  app.add_flag("!--no-fit", defaults.fit, "measure only: a fit may come later");
  options->executor.add(app);
  app.add_flag("-n", options->dry, "say what would be done");
  app.add_flag("-q", options->quiet, "no progress, no notes");
}

}  // namespace

void add_calibrate_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<CalibrateOptions>();
  options->defaults.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  add_calibration_options(app, options);
  app.callback([&session, &app, options] {
    std::vector<std::string> own = ExecutorOption::names();
    own.insert(own.end(), {"--target", "--db", "--fresh", "-n", "-q"});
    options->fit_given = given_options(app, own);
    own.insert(own.end(), {"--only", "--kernel", "--show", "--format", "--held-back", "--splits",
                           "--without", "--no-fit"});
    options->measure_given = given_options(app, own);
    session.action = [&session, options] { return run_calibration(session, *options); };
  });
}

}  // namespace exotune::cli
