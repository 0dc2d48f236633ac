#pragma once
// A Slurm made of three scripts on PATH, whose cluster is a function of the test's: it plays each
// time that the executor pauses, in the same process, so that every failure takes no time.
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "executors/shared_folder.h"
#include "executors/slurm_executor.h"

namespace exotune::testing {

struct FakeTask {
  std::string id;    // of the job
  std::string job;   // our name of it
  size_t index = 0;  // in the array
  int attempt = 0;   // tasks that the fake ran before this one
  std::set<std::string> excluded;
};

class FakeSlurm {
 public:
  FakeSlurm();
  ~FakeSlurm();
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;

  std::filesystem::path folder() const { return root_ / "shared folder's"; }
  /// With this fake as its cluster, and no time between anything.
  SlurmOptions options();

  /// What becomes of a task: its state as squeue prints it, "" when squeue knows it no more.
  /// The default answers each shard with its input in capitals and is gone.
  std::function<std::string(const FakeTask&)> fate;
  std::string answer(const FakeTask& task);  // runs the worker; ""
  std::string node = "n1";                   // that squeue names for tasks
  ShardWork work;

  /// The next calls of a program print this on stderr and fail. 0 times: never again.
  void fail(const std::string& program, const std::string& message, int times = 1000000);
  /// sbatch takes the job and is cut off before it says so.
  void lose_replies(int times);
  void remove(const std::string& program);
  /// What a program was called with, a line a call, words in brackets.
  std::string calls(const std::string& program) const;
  /// Runs what was submitted and is not done; what `pause` does.
  void play();
  int played = 0;

 private:
  void script(const std::string& program, const std::string& text) const;
  void learn_of_jobs();

  std::filesystem::path root_;
  std::string path_;                                     // PATH as it was
  std::vector<std::pair<FakeTask, std::string>> tasks_;  // with their states
  std::set<std::string> known_;
  int ran_ = 0;
};

}  // namespace exotune::testing
