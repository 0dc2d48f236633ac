#pragma once
// The kinds of runners there are, one row each. Start at runner_kind; a new kind is a folder with a
// class of Runner (runner.h) and one row of registry.cc.
//
// Records (command/runner_record.h) are kinds without code: a text that says how to run a program
// on a simulator or a board. They go by their file's name, beside the rows.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/target.h"
#include "runners/runner.h"
#include "runners/toolchain.h"

namespace exotune {

/// What a runner is made for. The target is borrowed for the call.
struct RunnerRequest {
  const Target& target;
  TargetToolchain toolchain;  // what the candidates' C is compiled with
  int jobs = 1;               // candidates or compilers at once
  std::string work_directory = {};
};

struct RunnerKind {
  std::string name;  // as [runner] kind and --runner say it
  SampleUnit unit = SampleUnit::kSeconds;
  std::string what;              // one line for lists
  bool is_this_machine = false;  // candidates meet each other, and peers, in one process
  /// Error(kUnavailable) when it cannot work here, InputError for a target that it cannot do.
  std::function<std::unique_ptr<Runner>(const RunnerRequest&)> make;
};

/// Every row, then one for each record in the folder, by name. InputError for a record that is
/// wrong.
std::vector<RunnerKind> runner_kinds(const std::filesystem::path& records);

/// Of a record: can it work here, and what is lost where it cannot?
struct RunnerState {
  std::string name;
  std::string missing;  // the program that is not on PATH; "": none
  std::string without;  // what is lost without it
  std::string hint;
  bool takes_libraries = false;  // a target's `extension` is a shared object for it
  bool checked = false;          // making it finds out whether that can be loaded
};
std::vector<RunnerState> runner_states(const std::filesystem::path& records);

/// The kind that `wanted` names: a row, a record in `records`, or a record's own file NAME.toml; ""
/// is the target's own. Error(kUnavailable) with the nearest name for anything else.
RunnerKind runner_kind(const Target& target, const std::string& wanted,
                       const std::filesystem::path& records);

}  // namespace exotune
