#pragma once
// --executor and what belongs to it: where shards are worked on, on the command line and in the
// configuration file. Start at ExecutorOption.
//
//   executor = "slurm:tune"              # the file's keys, beside the options of the same names
//   cluster_dir = "/shared/me/exo-tune"
//   machine = "any"
//   [slurm]
//   sbatch = ["--account=a", "--time=30"]
//   attempts = 3
//   bundle = 4
//   exclusive = true
//   command = "/opt/exo-tune/bin/exo-tune"
#include <memory>

#include "cli/session.h"
#include "executors/executor.h"

namespace exotune::cli {

/// At each shard, before it is given up.
inline constexpr int kShardAttempts = 3;

class ExecutorOption {
 public:
  void add(CLI::App& app);

  /// Reads the configuration file and completes what the command line left open. InputError for an
  /// unknown executor (the nearest is named), a key that nothing reads, options without their
  /// executor.
  void read(const Session& session);
  // The following hold after `read`.
  bool local() const { return kind_ == "local"; }
  /// The names of its options, which a worker does not get.
  static std::vector<std::string> names();
  /// The machine that results are for, as one word: `here` unless another was named.
  std::string machine_word(const std::string& here) const;
  /// `fingerprint`: of this machine, what workers must have when nothing else was named. `database`
  /// is where the folder lies beside unless one was named. `work`: for the local one.
  std::unique_ptr<Executor> executor(const std::string& fingerprint, const std::string& database,
                                     ShardWork work) const;

 private:
  std::string kind_, partition_, folder_, machine_, command_;
  std::vector<std::string> sbatch_;
  std::string gres_, constraint_;
  int attempts_ = 0, bundle_ = 0;
  bool shared_nodes_ = false;
};

}  // namespace exotune::cli
