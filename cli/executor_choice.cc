// ExecutorOption::executor, apart from the option: whoever only reads the option links no executor.
#include "cli/executor_option.h"
#include "executors/slurm_executor.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

std::string this_command() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "exo-tune" : self.string();
}

}  // namespace

std::unique_ptr<Executor> ExecutorOption::executor(const std::string& fingerprint,
                                                   const std::string& database,
                                                   ShardWork work) const {
  if (local()) return std::make_unique<LocalExecutor>(std::move(work));
  SlurmOptions options;
  options.folder = folder_;
  if (folder_.empty()) {
    if (database == ":memory:")
      throw InputError({}, "--executor slurm needs a folder that all nodes see",
                       "--cluster-dir DIR");
    options.folder = fs::absolute(database).parent_path() / "cluster";
  }
  options.worker = {command_.empty() ? this_command() : command_, "worker"};
  options.partition = partition_;
  options.sbatch = sbatch_;
  if (!gres_.empty()) options.sbatch.push_back("--gres=" + gres_);
  if (!constraint_.empty()) options.sbatch.push_back("--constraint=" + constraint_);
  options.exclusive = !shared_nodes_;
  options.machine = machine_ == "any" ? "" : machine_.empty() ? fingerprint : machine_;
  options.attempts = attempts_ == 0 ? kShardAttempts : attempts_;
  options.bundle = static_cast<size_t>(bundle_ == 0 ? 1 : bundle_);
  return std::make_unique<SlurmExecutor>(std::move(options));
}

}  // namespace exotune::cli
