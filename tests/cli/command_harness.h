#pragma once
// Runs the real command in a fresh folder of its own, as a user would, and hands back what it said.
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/subprocess.h"

namespace exotune::cli {

class CommandHarness {
 public:
  /// A folder under TMPDIR, removed with the harness; HOME and XDG_DATA_HOME of the command lie in
  /// it.
  explicit CommandHarness(const std::string& name);
  ~CommandHarness();
  CommandHarness(const CommandHarness&) = delete;
  CommandHarness& operator=(const CommandHarness&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  void write(const std::string& file, const std::string& text) const;
  std::string read(const std::string& file) const;  // "" when there is none
  bool exists(const std::string& file) const;

  /// `exo-tune ARGUMENTS` in the folder. `environment` adds variables.
  CommandResult run(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& environment = {},
                    double timeout_seconds = 120) const;
  /// As run, with a --time-budget that grows until the result is `enough`, or is the last one's:
  /// what takes seconds on an idle machine takes many on a busy one, and the same command goes on.
  CommandResult run_in_time(const std::vector<std::string>& arguments,
                            const std::function<bool(const CommandResult&)>& enough) const;

 private:
  std::filesystem::path folder_;
};

/// Can this machine run a target natively? Asked of `exo-tune doctor`, once a program.
bool a_target_runs();

// The suite passes on any machine: where no target runs, what needs one is skipped.
#define REQUIRE_TARGET() \
  if (!a_target_runs()) GTEST_SKIP() << "no target runs here"

}  // namespace exotune::cli
