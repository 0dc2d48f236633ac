#pragma once
// CommandRunner: candidates as bare-metal programs on whatever a RunnerRecord describes: Spike, a
// Verilator model, FireSim, a board behind a script. One program at a time. A run counts only by
// what it printed (contract.h): exit statuses are advisory.
#include <map>
#include <memory>
#include <string>

#include "runners/command/runner_record.h"
#include "runners/runner.h"
#include "runners/toolchain.h"

namespace exotune {

struct CommandRunnerOptions {
  std::string work_directory;  // "" = a fresh folder under TMPDIR, removed at the end
  double compile_timeout_seconds = 60;
  std::map<std::string, std::string> words;  // for the record's placeholders: isa, extension
};

class CommandRunner : public Runner {
 public:
  /// Throws Error(kUnavailable) when the cross compiler or the record's programs are missing,
  /// or one of its checks fails; InputError for a placeholder that has no value.
  CommandRunner(TargetToolchain toolchain, RunnerRecord record, CommandRunnerOptions options = {});
  ~CommandRunner() override;
  std::string name() const override;
  SampleUnit unit() const override;
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase& test,
                               const RunOptions& options) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace exotune
