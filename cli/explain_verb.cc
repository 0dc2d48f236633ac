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
#include "core/ir/printer.h"
#include "db/store.h"

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
