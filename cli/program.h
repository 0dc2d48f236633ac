#pragma once
// What one program of the command is made of: its verbs, and the parts that some runs of them need.
// Start at Program.
//
// There are two. `exo-tune` (main.cc) has everything. `exo-tune-kernel` (kernel_program.cc) is what
// a first `./dev tune` waits for: the verb `kernel` for this machine, without simulators, clusters,
// plans for accelerators and views found by rewriting. A run that needs one of these is handed to
// the whole command with the same words, before anything was done.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "hw/target.h"
#include "runners/runner.h"
#include "search/runner_tuning.h"
#include "search/tuner.h"

namespace exotune::cli {

class ExecutorOption;
class Workspace;
struct ElsewhereRequest;
struct KernelAnswer;

/// A search that may also start from views (search/views/view_tuning.h).
struct ViewSearch {
  const TuneRequest& request;
  Runner* runner = nullptr;  // null: this machine itself
  std::vector<KnownSchedule> known;
  std::filesystem::path rules;  // the folder of rewrite rules
};

/// Each may be null: then this program does not have it. `require` says so before a run begins.
struct Parts {
  /// Of targets that are not this machine: see cli/runner_choice.h.
  std::unique_ptr<Runner> (*choose_runner)(const Target& target, const std::string& wanted,
                                           const std::filesystem::path& records,
                                           int jobs) = nullptr;
  TuneResult (*tune_from_views)(const ViewSearch& search, Store& store,
                                const TuneHooks& hooks) = nullptr;
  /// Other machines' answers: see cli/kernel_cluster.h.
  std::vector<std::optional<KernelAnswer>> (*tune_elsewhere)(const ElsewhereRequest& request,
                                                             const ExecutorOption& executor,
                                                             const std::string& database,
                                                             Store& store,
                                                             Workspace& workspace) = nullptr;
  /// Of accelerators: see search/device/device_search.h.
  bool (*device_serves)(const ProcPtr& kernel, const SizeBinding& sizes,
                        const Target& target) = nullptr;
};

struct Program {
  std::vector<Verb> verbs;
  Parts parts;
};

/// Everything: what `exo-tune` is.
const Program& whole_command();

/// Thrown by a program without the part; caught by its main, which hands the words on. No Error:
/// nothing is wrong with what was asked.
struct NeedsWholeCommand {
  std::string what;  // "a simulator"
};

/// Refuses (NeedsWholeCommand) where the program has no such part.
template <class Part>
void require(Part part, const char* what) {
  if (part == nullptr) throw NeedsWholeCommand{what};
}

}  // namespace exotune::cli
