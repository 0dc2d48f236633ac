#include "cli/tune_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <thread>

#include "cli/program.h"
#include "cli/text_file.h"
#include "hw/machine_model.h"
#include "search/view_need.h"

namespace exotune::cli {
// From words on the command line to a request of the tuner. Two passes: check() refuses what is
// wrong whatever the kernel, fill() what depends on target and machine; nothing is opened or
// compiled before both are through.
namespace {

// One of `words` by its place; else InputError naming the nearest.
int choice(const std::string& option, const std::string& what, const std::string& text,
           const std::vector<std::string>& words) {
  for (size_t k = 0; k < words.size(); ++k)
    if (words[k] == text) return static_cast<int>(k);
  std::string all;
  for (size_t k = 0; k < words.size(); ++k)
    all += (k == 0 ? "" : k + 1 == words.size() ? " or " : ", ") + words[k];
  const std::string near = nearest(text, words);
  throw InputError({}, option + ": unknown " + what + " '" + text + "'",
                   near.empty() ? all : "did you mean '" + near + "'?");
}

Effort parse_effort(const std::string& text) {
  return static_cast<Effort>(
      choice("--effort", "effort", text, {"estimate", "measure", "patient", "exhaustive"}));
}

Strategy parse_strategy(const std::string& text) {
  return static_cast<Strategy>(
      choice("--strategy", "strategy", text, {"dp", "beam", "eqsat", "all"}));
}

CostBasis parse_costs(const std::string& text) {
  return static_cast<CostBasis>(choice("--costs", "basis", text, cost_basis_names()));
}

// What an effort means where the user named no limits of their own.
// An effort is a set of limits; what the user names outranks it, limit by limit.
struct Limits {
  int beam, trials;
  double seconds;
};

// Schedules by hand for this kernel and target, beside the kernel's file: KERNEL_TARGET.sched.
std::vector<KnownSchedule> shipped_schedules(const TuneRequest& request) {
  const std::filesystem::path file = request.kernel.file.parent_path() /
                                     (request.kernel.name + "_" + request.target->name + ".sched");
  if (!std::filesystem::exists(file)) return {};
  return {{file.string(), read_text_file(file.string())}};
}

// The figures of the efforts; docs/how-the-search-works.md says what each costs.
Limits limits_of(Effort effort) {
  switch (effort) {
    case Effort::kEstimate:
      return {16, 200, 24 * 3600};  // its limits are counts: the same result on a busy machine
    case Effort::kMeasure:
      return {16, 200, 240};
    case Effort::kPatient:
      return {48, 1000, 1800};
    case Effort::kExhaustive:
      return {128, 10000, 14400};
  }
  return {};
}

// "(default 200; patient 1000, exhaustive 10000)"
template <class F>
std::string by_effort(const F& text) {
  return "(default " + text(limits_of(Effort::kMeasure)) + "; patient " +
         text(limits_of(Effort::kPatient)) + ", exhaustive " +
         text(limits_of(Effort::kExhaustive)) + ")";
}

std::string default_of(int value) { return " (default " + std::to_string(value) + ")"; }

}  // namespace

TuneOptions::TuneOptions() {
  defaults_.beam = defaults_.trials = 0;  // not given: as the effort says
  defaults_.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// The help's order: what is tuned for, how hard, where results go.
void TuneOptions::add(CLI::App& app) {
  app.add_option("--target", target_,
                 "a target's name or folder (default: the best this machine runs)");
  app.add_option("--runner", runner_,
                 "native, sim, spike, ... or FILE.toml (default: the target's own)");
  app.add_option(
      "--core", core_,
      "FILE.toml, a core as in hw/uarch: plan for it instead of for this machine's, with "
      "--effort estimate or -n");
  app.add_option("--effort", effort_, "estimate, measure, patient or exhaustive (default measure)");
  app.add_option("--strategy", strategy_,
                 "dp, beam, eqsat or all (default all): where schedules come from");
  app.add_option("--costs", costs_,
                 "figures of this machine that the models reckon with: text (none), instructions, "
                 "lines, measured (both) or all (and fitted weights; default)");
  app.add_option("--k", defaults_.dp_plans, "plans asked of the dynamic program (default 8)")
      ->check(CLI::Range(1, 255));
  app.add_option("--dp-budget", defaults_.dp_specs,
                 "Specs that the dynamic program may solve (default 1500000); they are kept")
      ->check(CLI::PositiveNumber);
  add_limits(app);
}

// How much is tried, in which time, and what becomes of it.
void TuneOptions::add_limits(CLI::App& app) {
  app.add_option("--beam", defaults_.beam,
                 "schedules kept per stage " +
                     by_effort([](const Limits& l) { return std::to_string(l.beam); }))
      ->check(CLI::PositiveNumber);
  app.add_option("--trials", defaults_.trials,
                 "candidates measured at most " +
                     by_effort([](const Limits& l) { return std::to_string(l.trials); }))
      ->check(CLI::PositiveNumber);
  app.add_option("--time-budget", time_budget_,
                 "for everything that a kernel takes, to the last comparison: 90s, 10m " +
                     by_effort([](const Limits& l) {
                       return std::to_string(static_cast<int>(l.seconds / 60)) + "m";
                     }));
  app.add_option("--timeout", timeout_, "for each candidate (default 2s)");
  app.add_option("--top-k", defaults_.top_k,
                 "finalists of the shoot-out" + default_of(defaults_.top_k))
      ->check(CLI::PositiveNumber);
  app.add_option("--reps", defaults_.rounds,
                 "rounds of the shoot-out" + default_of(defaults_.rounds))
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--jobs", defaults_.jobs,
         "compilers at once, and threads of the dynamic program (default: as many as run at once)")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", defaults_.threads,
                 "that the kernel, and its peers, may use (default 1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", defaults_.seed, "of the search (default 1)")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  app.add_flag("--no-peers", no_peers_, "do not measure other libraries");
  app.add_flag("--fresh", defaults_.fresh, "measure again what the database already holds");
  database_.add(app);
  app.add_option("-o", folder_, "where STEM.c .h .sched .json go (default out)");
  app.add_option("--stem", stem_, "names the files (default: the kernel's name)");
  app.add_flag("-n", dry_, "say what would be done");
  app.add_flag("-q", quiet_, "no progress, no notes");
  app.add_flag("-v", verbose_, "refusals and causes too");
  app.add_flag("--no-progress", no_progress_, "no progress line");
}

void TuneOptions::check() const {
  parse_effort(effort_);
  parse_strategy(strategy_);
  parse_costs(costs_);
  if (stem_.find('/') != std::string::npos)
    throw InputError({}, "--stem: a file's name, not a path: '" + stem_ + "'",
                     "-o DIR says where the files go");
}

// Target and machine first, since defaults of the rest come from them.
void TuneOptions::fill(TuneRequest& request, Workspace& workspace, const Session& session) const {
  request.target = workspace.target(target_, request.proc.get());
  const bool native = runner_of(request).is_this_machine();
  // Cycles are of one size; a schedule for all of them is measured at one with --any-size natively.
  if (!native) request.sizes = request.representative;
  request.effort = parse_effort(effort_);
  // An estimate runs nothing and needs no compiler.
  if (native && !elsewhere_ && request.effort != Effort::kEstimate)
    workspace.require_runnable(*request.target);
  request.machine = workspace.machine();
  if (!core_.empty()) {
    if (request.effort != Effort::kEstimate && !dry_)
      throw InputError({}, "--core: nothing can be measured on a core that is only described",
                       "--effort estimate, or -n");
    request.machine = described_machine(request.machine, core_);
  }
  request.strategy = parse_strategy(strategy_);
  request.costs = parse_costs(costs_);
  request.dp_plans = defaults_.dp_plans;
  request.dp_specs = defaults_.dp_specs;
  request.memo_file = memo_file_for(database(session), *request.target);
  fill_limits(request);
}

void TuneOptions::fill_limits(TuneRequest& request) const {
  const Limits limits = limits_of(request.effort);
  request.beam = defaults_.beam == 0 ? limits.beam : defaults_.beam;
  request.trials = defaults_.trials == 0 ? limits.trials : defaults_.trials;
  request.top_k = defaults_.top_k;
  request.rounds = defaults_.rounds;
  request.jobs = defaults_.jobs;
  request.seed = defaults_.seed;
  request.threads = defaults_.threads;
  if (!elsewhere_ && request.threads > request.machine.threads)
    throw InputError(
        {}, "--threads: this machine runs " + std::to_string(request.machine.threads) + " at once",
        "more could not be measured");
  if (request.threads > 1 && request.sizes.empty() && !request.representative.empty())
    throw InputError({}, "--threads: a kernel for any size has one thread",
                     "name its sizes: --size " + str(request.representative));
  request.fresh = defaults_.fresh;
  request.with_peers = !no_peers_;
  request.timeout_seconds = parse_duration("--timeout", timeout_);
  request.time_budget_seconds =
      time_budget_.empty() ? limits.seconds : parse_duration("--time-budget", time_budget_);
}

ProgressLine TuneOptions::progress_line(const TuneRequest& request, const Session& session) const {
  const std::string unit = request.kernel.flops.text().empty() ? "GB/s" : "GFLOP/s";
  const ProgressStyle style = quiet_ || no_progress_ ? ProgressStyle::kNone
                              : session.terminal     ? ProgressStyle::kTerminal
                                                     : ProgressStyle::kLines;
  return ProgressLine(request.kernel.name + " " + request.target->name, unit,
                      request.time_budget_seconds, style);
}

TargetRunner TuneOptions::runner_of(const TuneRequest& request) const {
  return runner_.empty() ? request.target->runner : TargetRunner{.kind = runner_};
}

void TuneOptions::require_native(const TuneRequest& request) const {
  const TargetRunner runner = runner_of(request);
  if (!runner.is_this_machine())
    throw Error(Diagnostic{{},
                           "this command measures on this machine itself, not on the runner '" +
                               runner.kind + "' of " + request.target->name,
                           {},
                           "exo-tune kernel measures there"},
                ExitCode::kUnavailable);
}

namespace {

// An estimate measures nothing, so nobody could tell whether a view is worth its copies.
bool searches_views(const TuneRequest& request) {
  return request.effort != Effort::kEstimate && views_may_help(request);
}

}  // namespace

void TuneOptions::require_parts(const TuneRequest& request, const Session& session) const {
  if (!runner_of(request).is_this_machine())
    require(session.parts->choose_runner, "a machine that is not this one");
  else if (searches_views(request))
    require(session.parts->tune_from_views, "a search through views of the operands");
}

// A target that is no native one says how its programs run; what is not here (a simulator, a cross
// compiler) is refused with what to install.
std::unique_ptr<Runner> TuneOptions::runner_for(const TuneRequest& request,
                                                const Session& session) const {
  if (runner_of(request).is_this_machine()) return nullptr;
  return session.parts->choose_runner(*request.target, runner_, session.data.targets / "runners",
                                      request.jobs);
}

TuneResult TuneOptions::tune(const TuneRequest& request, Store& store,
                             const Session& session) const {
  require_parts(request, session);
  const std::unique_ptr<Runner> runner = runner_for(request, session);
  return with_progress(request, session, [&](const TuneHooks& hooks) {
    if (runner == nullptr && !searches_views(request)) return exotune::tune(request, store, hooks);
    ViewSearch search{request, runner.get(), {}, session.data.rules};
    if (runner != nullptr) search.known = shipped_schedules(request);
    TuneResult result = session.parts->tune_from_views(search, store, hooks);
    if (runner != nullptr && result.cycles)
      result.cycles->spent = runner->spent_on(result.candidate_id);
    return result;
  });
}

void TuneOptions::refuse(const TuneRequest& request, const TuneResult& result,
                         const std::string& again) const {
  Diagnostic diagnostic;
  diagnostic.message =
      LazyText("no valid candidate for " + request.kernel.name + " on " + request.target->name);
  for (const auto& [cause, count] : result.statistics.causes)
    diagnostic.notes.push_back(LazyText(std::to_string(count) + " candidates: " + cause));
  for (const auto& [op, count] : result.statistics.refusals) {
    const auto reason = result.statistics.reasons.find(op);
    const std::string why = reason == result.statistics.reasons.end() ? "" : ", " + reason->second;
    diagnostic.notes.push_back(LazyText(std::to_string(count) + " refused: " + op + why));
  }
  for (const std::string& failure : result.failures) diagnostic.notes.push_back(LazyText(failure));
  if (!result.statistics.first_refusal.empty())
    diagnostic.notes.push_back(LazyText("a refused step: " + result.statistics.first_refusal));
  const bool late = result.stop == StopReason::kTimeBudget;
  if (late) diagnostic.notes.push_back(LazyText("the time was over before one had run"));
  diagnostic.hint =
      LazyText((late ? "give it a longer --time-budget, or smaller sizes; again, from nothing: "
                     : "again, from nothing: ") +
               again + " --fresh -v");
  throw Error(std::move(diagnostic), ExitCode::kNoCandidate);
}

}  // namespace exotune::cli
