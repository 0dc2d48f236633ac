// exo-tune worker DIR JOB [TASK]: what the Slurm executor starts on a node. Needs the shared folder
// and no database.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/session.h"
#include "cli/shard_work.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "executors/worker.h"

namespace exotune::cli {
namespace {

struct WorkerOptions {
  std::string folder, job, task;
};

size_t task_of(const WorkerOptions& options) {
  std::string text = options.task;
  if (text.empty()) {
    const char* const told = std::getenv("SLURM_ARRAY_TASK_ID");
    if (told != nullptr) text = told;
  }
  size_t task = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), task);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw InputError({}, "worker: which task of the job? '" + text + "' is no number",
                     "it is the third argument, or SLURM_ARRAY_TASK_ID");
  return task;
}

ExitCode run_worker(const Session& session, const WorkerOptions& options) {
  Workspace workspace(session);
  const SharedFolder folder(options.folder, /*make=*/false);
  const WorkerReport report =
      run_task(folder, options.job, task_of(options), shard_work(workspace, &folder));
  std::fprintf(stderr, "%zu shards answered, %zu known already, %zu failed\n", report.done,
               report.known, report.failed);
  return report.failed > 0 ? ExitCode::kUnavailable : ExitCode::kOk;
}

}  // namespace

void add_worker_verb(CLI::App& app, Session& session) {
  const auto options = std::make_shared<WorkerOptions>();
  app.add_option("folder", options->folder, "the shared folder")->required();
  app.add_option("job", options->job, "a job that it names")->required();
  app.add_option("task", options->task, "which of its tasks (default: SLURM_ARRAY_TASK_ID)");
  app.callback([&session, options] {
    session.action = [&session, options] { return run_worker(session, *options); };
  });
}

}  // namespace exotune::cli
