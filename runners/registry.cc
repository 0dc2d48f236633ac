#include "runners/registry.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "core/base/words.h"
#include "runners/arena.h"
#include "runners/command/command_runner.h"
#include "runners/sim/sim_runner.h"
#include "runners/spike/extension_library.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

std::string option_of(const Target& target, const std::string& key) {
  const auto it = target.runner.options.find(key);
  return it == target.runner.options.end() ? "" : it->second;
}

std::string required_isa(const Target& target, const std::string& kind) {
  const std::string isa = option_of(target, "isa");
  if (!isa.empty()) return isa;
  throw InputError({}, "the target " + target.name + " does not run on the runner '" + kind + "'",
                   "its [runner] names no isa");
}

std::unique_ptr<Runner> this_machine(const RunnerRequest& r) {
  return native_runner(r.toolchain, {.work_directory = r.work_directory, .jobs = r.jobs});
}

std::unique_ptr<Runner> simulator(const RunnerRequest& r) {
  for (const auto& [key, value] : r.target.runner.options)
    if (key != "isa" && key != "extension")
      throw InputError({}, "nothing reads '" + key + "' of the [runner] of " + r.target.name,
                       "isa, extension");
  SimRunnerOptions options;
  options.work_directory = r.work_directory;
  options.jobs = r.jobs;
  return std::make_unique<SimRunner>(
      r.toolchain,
      SimulatedMachine{required_isa(r.target, "sim"), option_of(r.target, "extension"),
                       r.target.latency, r.target.parameters},
      options);
}

// The rows. Records come after them.
std::vector<RunnerKind> rows() {
  return {
      {"native", SampleUnit::kSeconds,
       "this machine: a forked child per candidate, wall timeout, guard pages", true, this_machine},
      {"sim", SampleUnit::kModelCycles,
       "the embedded RISC-V simulator, with the target's extension and figures", false, simulator},
  };
}

std::unique_ptr<Runner> by_record(const RunnerRecord& record, const RunnerRequest& r) {
  CommandRunnerOptions options;
  options.work_directory = r.work_directory;
  // What the target says of its runner, the extension even where there is none.
  options.words = r.target.runner.options;
  options.words["isa"] = required_isa(r.target, record.name);
  const std::string extension = option_of(r.target, "extension");
  options.words["extension"] = extension;
  options.words["library"] = extension_library(extension);
  return std::make_unique<CommandRunner>(r.toolchain, record, options);
}

RunnerKind kind_of_record(const fs::path& file) {
  const RunnerRecord record = read_runner_record(file);
  return {file.stem().string(), record.unit, joined(record.run.back(), " "), false,
          [record](const RunnerRequest& r) { return by_record(record, r); }};
}

std::vector<fs::path> files_in(const fs::path& records) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(records, ignored))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

[[noreturn]] void unknown(const std::string& name, const fs::path& records) {
  std::vector<std::string> known;
  for (const RunnerKind& row : rows()) known.push_back(row.name);
  for (const fs::path& file : files_in(records)) known.push_back(file.stem().string());
  const std::string near = nearest(name, known);
  throw Error(Diagnostic{{},
                         "there is no runner '" + name + "'",
                         {},
                         near.empty() ? "exo-tune list runners" : "did you mean '" + near + "'?"},
              ExitCode::kUnavailable);
}

}  // namespace

std::vector<RunnerKind> runner_kinds(const fs::path& records) {
  std::vector<RunnerKind> kinds = rows();
  for (const fs::path& file : files_in(records)) kinds.push_back(kind_of_record(file));
  return kinds;
}

std::vector<RunnerState> runner_states(const fs::path& records) {
  std::vector<RunnerState> states;
  for (const fs::path& file : files_in(records)) {
    const RunnerRecord record = read_runner_record(file);
    RunnerState state{file.stem().string(), "", record.without, record.hint};
    state.checked = !record.check.empty();
    for (const std::vector<std::string>& command : record.run) {
      // What the target names cannot be looked for here.
      const bool known = command[0].find('{') == std::string::npos;
      if (known && state.missing.empty() && find_program(command[0]).empty())
        state.missing = command[0];
      for (const std::string& word : command)
        state.takes_libraries =
            state.takes_libraries || word.find("{library}") != std::string::npos;
    }
    states.push_back(std::move(state));
  }
  return states;
}

RunnerKind runner_kind(const Target& target, const std::string& wanted, const fs::path& records) {
  const std::string name = wanted.empty() ? target.runner.kind : wanted;
  for (RunnerKind& row : rows())
    if (row.name == name) return row;
  if (name.ends_with(".toml")) return kind_of_record(name);
  for (const fs::path& file : files_in(records))
    if (file.stem() == name) return kind_of_record(file);
  unknown(name, records);
}

}  // namespace exotune
