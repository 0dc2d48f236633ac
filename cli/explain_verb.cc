// exo-tune explain RECORD|NAME: why this schedule: its steps, how it was proved, what else was
// tried.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/options.h"
#include "cli/record.h"
#include "cli/replay.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "core/cursor/provenance.h"
#include "core/frontend/schedule.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"
#include "db/store.h"
#include "search/dp/dp_plans.h"
#include "search/weights.h"

namespace exotune::cli {
namespace {

struct ExplainOptions {
  std::string what, target, kernel;
  bool plan = false;
  SizeOption size;
  DatabaseOption database;
};

// "14x replace, 3x divide_loop": the primitives of a trace, most frequent first.
std::string primitives_of(const ProcPtr& p) {
  std::map<std::string, int> counts;
  for (const TraceStep& step : trace_of(p)) ++counts[step.how->op];
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [op, count] : sorted)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + "x " + op;
  return text;
}

// The first line of a cause, without addresses and numbers that differ between equal causes.
std::string cause_of(const TrialRecord& trial) {
  return trial.status +
         (trial.cause.empty() ? "" : ": " + trial.cause.substr(0, trial.cause.find('\n')));
}

void print_failures(const std::map<std::string, int>& failures) {
  constexpr size_t kShown = 5;
  std::vector<std::pair<std::string, int>> causes(failures.begin(), failures.end());
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t k = 0; k < std::min(causes.size(), kShown); ++k)
    std::printf("failed   %d: %s\n", causes[k].second, causes[k].first.c_str());
}

// The winner among the trials of its context: how much it won by, and what the others died of.
void print_trials_beside(const Store& store, const TrialRecord& chosen) {
  TrialFilter filter;
  filter.kernel = chosen.key.kernel_hash;
  filter.sizes = chosen.key.sizes;
  filter.target = chosen.key.target;
  std::vector<TrialRecord> trials = store.list(filter);
  std::map<std::string, int> failures;
  std::vector<TrialRecord> valid;
  for (TrialRecord& trial : trials) {
    if (trial.status != "ok")
      ++failures[cause_of(trial)];
    else if (!trial.samples.empty())
      valid.push_back(std::move(trial));
  }
  std::printf("\ntried    %zu candidates, %zu valid\n", trials.size(), valid.size());
  print_failures(failures);
  std::stable_sort(valid.begin(), valid.end(),
                   [](const TrialRecord& a, const TrialRecord& b) { return a.median < b.median; });
  if (valid.empty()) return;
  const auto winner = std::find_if(valid.begin(), valid.end(), [&](const TrialRecord& t) {
    return t.candidate_id == chosen.candidate_id;
  });
  const double base = winner == valid.end() ? valid.front().median : winner->median;
  const auto print = [&](const TrialRecord& t) {
    const bool seconds = t.unit == "seconds";
    std::printf("%s %s  %s %s  %.2fx\n", t.candidate_id == chosen.candidate_id ? "*" : " ",
                t.candidate_id.substr(0, 12).c_str(),
                number(seconds ? t.median * 1e6 : t.median).c_str(),
                seconds ? "us" : t.unit.c_str(), t.median / base);
  };
  std::puts(
      "\ntimes    the winner's is of the shoot-out, where the best ran in turns; the others' are "
      "of "
      "screening,\n         rougher, and may look faster; of what ties the simpler code wins");
  constexpr size_t kShown = 6;
  for (size_t k = 0; k < std::min(valid.size(), kShown); ++k) print(valid[k]);
  if (winner != valid.end() && winner - valid.begin() >= static_cast<std::ptrdiff_t>(kShown))
    print(*winner);
}

// What the winner does a second, as the text of the kernel counts it.
void print_speed(const TrialRecord& trial, const Record& record, const KernelEntry& kernel) {
  if (trial.unit != "seconds" || trial.median <= 0) return;
  std::printf("\nspeed    %s us", number(trial.median * 1e6).c_str());
  const auto rate = [&](const SizeFormula& formula, const char* unit) {
    const double work = formula.text().empty() ? 0 : formula.evaluate(record.measured_at);
    if (work > 0) std::printf(", %s %s", number(work / trial.median * 1e-9).c_str(), unit);
    return work;
  };
  const double operations = rate(kernel.flops, "GFLOP/s"), bytes = rate(kernel.bytes, "GB/s");
  if (operations > 0 && bytes > 0)
    std::printf("; %s operations a byte", number(operations / bytes).c_str());
  std::puts("");
}

// The lines that schedule the kernel once its sizes are fixed, without their comments.
std::vector<std::string> scheduling_lines(const Record& record) {
  std::vector<std::string> lines;
  for (const ScheduleStmt& s : parse_schedule(record.script, record.script_name).stmts) {
    const bool names_kernel = s.value.kind == ScheduleExpr::Kind::kName;
    if (!names_kernel && s.text.find("partial_eval(") == std::string::npos) lines.push_back(s.text);
  }
  return lines;
}

// The plan behind the schedule, from what the dynamic program left beside the database.
// The plan is worked out again from the stored memo, which takes no time where it is there; without
// it this part is left out.
void print_plan(const Record& record, const KernelInput& input, const Replayed& replayed,
                const std::string& database, bool always) {
  const Target& target = *replayed.targets.front();
  DpRequest ask;
  ask.memo_file = memo_file_for(database, target);
  ask.threads = record.threads;
  if (std::filesystem::exists(database))
    ask.figures =
        dp_figures(target, probe_machine(), open_store(database, OpenMode::kReadOnly).get(),
                   input.entry ? input.entry->operation() : record.kernel);
  ProcPtr proc = input.proc;
  if (!replayed.fixed.empty()) {
    std::vector<std::pair<std::string, int64_t>> values;
    for (const Arg& arg : proc->args)
      if (const auto it = replayed.fixed.find(arg.name.name()); it != replayed.fixed.end())
        values.emplace_back(it->first, it->second);
    proc = partial_eval(proc, values);
  }
  if (!lifts(*proc)) {
    std::puts("\nplan     none: the kernel at this size is not one affine nest");
    return;
  }
  const std::string tree = explain_plan(*proc, target, ask, scheduling_lines(record));
  const std::string first = tree.substr(0, tree.find('\n'));
  if (tree.empty())
    std::puts("\nplan     none is stored: exo-tune kernel ... --strategy dp solves it");
  else if (first.find("none of the") == std::string::npos || always)
    std::printf("\nplan     %s", tree.c_str());
  else  // the tree is another schedule's
    std::printf("\nplan     %s (--plan shows it)\n", first.c_str());
}

ExitCode explain(const Session& session, const ExplainOptions& options) {
  Workspace workspace(session);
  const std::string database = options.database.path(session);
  const Record record = find_record(workspace, options.what, database, options.target,
                                    options.size.single(), options.kernel);
  std::printf("kernel   %s\nsizes    %s\ntarget   %s\nfrom     %s\n", record.kernel.c_str(),
              record.sizes.empty() ? "any" : str(record.sizes).c_str(), record.target.c_str(),
              record.origin.c_str());
  std::printf("\nschedule\n%s", record.script.c_str());
  if (!record.script.empty() && record.script.back() != '\n') std::puts("");

  const KernelInput input = workspace.kernel(record.kernel, record.script, record.script_name);
  if (!record.kernel_hash.empty() && record.kernel_hash != kernel_hash(*input.proc))
    std::printf(
        "\nnote     %s has changed since; the schedule is proved again, its times are old\n",
        record.kernel.c_str());
  const Replayed replayed = replay(workspace, input, record.script, record.script_name,
                                   options.target.empty() ? record.target : options.target);
  std::printf("\nproved   %zu steps: %s\n", replayed.steps, primitives_of(replayed.proc).c_str());
  std::printf("level    %s\n", replayed.reassociates ? "proved modulo reassociation" : "proved");
  std::printf("solver   %s\n", solver_report().c_str());
  print_plan(record, input, replayed, database, options.plan);
  std::printf("\nresult\n%s", str(*replayed.proc).c_str());

  if (!record.trial.empty() && std::filesystem::exists(database)) {
    const auto store = open_store(database, OpenMode::kReadOnly);
    TrialFilter filter;
    filter.candidate_prefix = record.trial;
    filter.kernel = kernel_hash(*input.proc);
    const auto found = store->list(filter);
    if (!found.empty()) {
      print_speed(found.front(), record, described(input, record.kernel));
      print_trials_beside(*store, found.front());
    }
  }
  return ExitCode::kOk;
}

}  // namespace

void add_explain_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option("what", options->what,
                 "a kernel (its winner), a candidate's id, or a folder or .json that kernel wrote")
      ->required();
  app.add_option("--target", options->target, "the winner for this target");
  app.add_option("--kernel", options->kernel,
                 "FILE.exo[:proc] that a candidate of your own kernel is of");
  app.add_flag("--plan", options->plan,
               "the dynamic program's cheapest plan, though the schedule is another");
  options->size.add(app);
  options->database.add(app);
  app.callback([&session, options] {
    session.action = [&session, options] { return explain(session, *options); };
  });
}

}  // namespace exotune::cli
