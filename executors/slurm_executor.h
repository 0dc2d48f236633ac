#pragma once
// SlurmExecutor: shards as arrays of Slurm tasks. Start at SlurmOptions.
//
// The state of the work is in two places only: the answers in the shared folder, and Slurm's queue.
// What was submitted is noted before it is (SharedFolder::put_job) and known to Slurm by that name,
// so that a coordinator that was killed at any moment finds on its return every task that runs or
// waits. A shard whose task is gone and left no answer is submitted again, away from the node it
// was on. Accounting (sacct) is asked only for the reason.
#include <filesystem>

#include "executors/executor.h"
#include "executors/shared_folder.h"
#include "executors/slurm_commands.h"

namespace exotune {

struct SlurmOptions {
  std::filesystem::path folder;     // shared (shared_folder.h)
  std::vector<std::string> worker;  // the command on a node: JOB is added, the task is in the
                                    // environment (SLURM_ARRAY_TASK_ID)
  std::string partition;            // "" for Slurm's default
  std::vector<std::string> sbatch;  // options of the user's, as they are: "--account=a"
  bool exclusive = true;            // nobody else on the node while times are taken
  std::string machine;              // fingerprint that workers must have; "" for any
  int attempts = 3;                 // at each shard
  size_t bundle = 1;                // shards a task
  double poll_seconds = 1;          // between two looks at the folder
  double queue_seconds = 10;        // and at the queue: squeue is a load on the controller
  double patience_seconds = 600;    // with a controller that is silent, or a queue that is full
  /// A task that is gone has its answer on the disk, but another node's view of the folder may be
  /// this much older (NFS keeps directories for up to a minute).
  double settle_seconds = 5;
  /// Waits; tests pass one that does not.
  std::function<void(double seconds)> pause;
};

class SlurmExecutor : public Executor {
 public:
  explicit SlurmExecutor(SlurmOptions options) : options_(std::move(options)) {}
  std::string name() const override { return "slurm"; }
  /// Interrupted, it cancels what it submitted. Error(kUnavailable) without Slurm's commands, when
  /// the folder is lost, the controller stays silent, the queue stays full or sbatch refuses;
  /// InputError for a partition that there is none of. What runs then goes on, and is found by the
  /// next run.
  ExecutorReport run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) override;

 private:
  SlurmOptions options_;
};

}  // namespace exotune
