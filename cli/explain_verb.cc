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
#include "search/dp_plans.h"
#include "search/weights.h"

namespace exotune::cli {
namespace {

struct ExplainOptions {
  std::string what, target;
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

void print_trials(const Store& store, const TrialRecord& chosen) {
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
  std::vector<std::pair<std::string, int>> causes(failures.begin(), failures.end());
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t k = 0; k < std::min<size_t>(causes.size(), 5); ++k)
    std::printf("failed   %d: %s\n", causes[k].second, causes[k].first.c_str());
  std::stable_sort(valid.begin(), valid.end(),
                   [](const TrialRecord& a, const TrialRecord& b) { return a.median < b.median; });
  if (valid.empty()) return;
  std::puts("\nsiblings, fastest first (screening times; a shoot-out chose among the best)");
  for (size_t k = 0; k < std::min<size_t>(valid.size(), 6); ++k)
    std::printf("%s %s  %s %s  %.2fx\n", valid[k].candidate_id == chosen.candidate_id ? "*" : " ",
                valid[k].candidate_id.substr(0, 12).c_str(), number(valid[k].median).c_str(),
                valid[k].unit.c_str(), valid[k].median / valid.front().median);
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
void print_plan(const Record& record, const KernelInput& input, const Replayed& replayed,
                const std::string& database) {
  const Target& target = *replayed.targets.front();
  DpRequest ask;
  ask.memo_file = memo_file_for(database, target);
  ask.threads = record.threads;
  if (std::filesystem::exists(database))
    ask.figures =
        dp_figures(target, probe_machine(),
                             open_store(database, OpenMode::kReadOnly).get(),
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
  if (tree.empty())
    std::puts("\nplan     none is stored: exo-tune kernel ... --strategy dp solves it");
  else
    std::printf("\nplan     %s", tree.c_str());
}

ExitCode explain(const Session& session, const ExplainOptions& options) {
  Workspace workspace(session);
  const std::string database = options.database.path(session);
  const Record record =
      find_record(workspace, options.what, database, options.target, options.size.single());
  std::printf("kernel   %s\nsizes    %s\ntarget   %s\nfrom     %s\n", record.kernel.c_str(),
              record.sizes.empty() ? "any" : str(record.sizes).c_str(), record.target.c_str(),
              record.origin.c_str());
  std::printf("\nschedule\n%s", record.script.c_str());
  if (!record.script.empty() && record.script.back() != '\n') std::puts("");

  const KernelInput input = workspace.kernel(record.kernel);
  const Replayed replayed = replay(workspace, input, record.script, record.script_name,
                                   options.target.empty() ? record.target : options.target);
  std::printf("\nproved   %zu steps: %s\n", replayed.steps, primitives_of(replayed.proc).c_str());
  std::printf("level    %s\n", replayed.reassociates ? "proved modulo reassociation" : "proved");
  std::printf("solver   %s\n", solver_report().c_str());
  print_plan(record, input, replayed, database);
  std::printf("\nresult\n%s", str(*replayed.proc).c_str());

  if (!record.trial.empty() && std::filesystem::exists(database)) {
    const auto store = open_store(database, OpenMode::kReadOnly);
    TrialFilter filter;
    filter.candidate_prefix = record.trial;
    const auto found = store->list(filter);
    if (!found.empty()) print_trials(*store, found.front());
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
  options->size.add(app);
  options->database.add(app);
  app.callback([&session, options] {
    session.action = [&session, options] { return explain(session, *options); };
  });
}

}  // namespace exotune::cli
