#pragma once
// Slurm by its command line: sbatch, squeue, scancel, and, where a job is no longer known there,
// sacct. Start at SlurmCommands. Nothing is linked to, so that any version of the last ten years
// will do, and tests put scripts of these names on PATH.
#include <optional>
#include <string>
#include <vector>

namespace exotune {

/// One task of an array as squeue has it.
struct SlurmTask {
  std::string job;    // the array's id
  std::string index;  // "3"; "N/A" for a job that is no array
  std::string state;  // "PENDING", "RUNNING", "NODE_FAIL", ...
  std::string node;   // "" while it waits
  std::string reason, name;
  /// It waits, runs, or is being cleared away: an answer may still come.
  bool under_way() const;
};

struct Submission {
  enum class Outcome {
    kAccepted,
    kFull,     // limits of the queue: later
    kUnknown,  // no answer: it may have been accepted, squeue knows by its name
    kRefused,  // `why` says it
  };
  Outcome outcome = Outcome::kRefused;
  std::string id, why;
};

class SlurmCommands {
 public:
  /// Error(kUnavailable) when sbatch, squeue or scancel is not on PATH.
  static void require();

  /// `sbatch --parsable ARGUMENTS`.
  Submission submit(const std::vector<std::string>& arguments) const;
  /// All of the user's tasks, with those that ended lately; nothing when the controller does not
  /// answer, and then `silence` says what was heard.
  std::optional<std::vector<SlurmTask>> tasks() const;
  const std::string& silence() const { return silence_; }
  /// What became of a task that squeue does not know: "NODE_FAIL on n17"; "" where there is no
  /// accounting.
  std::string fate(const std::string& job, size_t index) const;
  /// All tasks of the job of that name; one that is not known by its id yet, too.
  void cancel(const std::string& name) const;
  std::vector<std::string> partitions() const;
  /// How many tasks an array may have.
  size_t most_tasks() const;

 private:
  mutable std::string silence_;
};

}  // namespace exotune
