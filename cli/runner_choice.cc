#include "cli/runner_choice.h"

#include <algorithm>

#include "runners/command/command_runner.h"
#include "runners/sim/sim_runner.h"
#include "search/problem.h"

namespace exotune::cli {
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

std::vector<std::string> names_in(const fs::path& records) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(records, ignored))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<Runner> simulator(const Target& target, int jobs) {
  for (const auto& [key, value] : target.runner.options)
    if (key != "isa" && key != "extension")
      throw InputError({}, "nothing reads '" + key + "' of the [runner] of " + target.name,
                       "isa, extension");
  SimRunnerOptions options;
  options.jobs = jobs;
  return std::make_unique<SimRunner>(
      toolchain_of(target),
      SimulatedMachine{required_isa(target, "sim"), option_of(target, "extension"), target.latency,
                       target.parameters},
      options);
}

std::unique_ptr<Runner> by_record(const Target& target, const fs::path& file) {
  const RunnerRecord record = read_runner_record(file);
  CommandRunnerOptions options;
  // What the target says of its runner, the extension even where there is none.
  options.words = target.runner.options;
  options.words["isa"] = required_isa(target, record.name);
  options.words["extension"] = option_of(target, "extension");
  return std::make_unique<CommandRunner>(toolchain_of(target), record, options);
}

}  // namespace

std::unique_ptr<Runner> choose_runner(const Target& target, const std::string& wanted,
                                      const fs::path& records, int jobs) {
  const std::string kind = wanted.empty() ? target.runner.kind : wanted;
  if (kind == "native") return nullptr;
  if (kind == "sim") return simulator(target, jobs);
  if (kind.ends_with(".toml")) return by_record(target, kind);
  std::vector<std::string> known = names_in(records);
  if (std::find(known.begin(), known.end(), kind) != known.end())
    return by_record(target, records / (kind + ".toml"));
  known.insert(known.end(), {"native", "sim"});
  const std::string near = nearest(kind, known);
  throw Error(Diagnostic{{},
                         "there is no runner '" + kind + "'",
                         {},
                         near.empty() ? "exo-tune list runners" : "did you mean '" + near + "'?"},
              ExitCode::kUnavailable);
}

std::vector<std::pair<std::string, double>> spent_on(const Runner& runner,
                                                     const std::string& candidate_id) {
  const auto* simulated = dynamic_cast<const SimRunner*>(&runner);
  const sim::Account* account = simulated ? simulated->account(candidate_id) : nullptr;
  if (account == nullptr) return {};
  const auto cycles = [](uint64_t n) { return static_cast<double>(n); };
  std::vector<std::pair<std::string, double>> out = {
      {"instructions", cycles(account->instructions)},
      {"waiting for loads", cycles(account->waited_for_loads)},
      {"waiting for the device", cycles(account->waited_for_device)}};
  for (const sim::Event& event : account->events)
    if (event.count > 0) out.emplace_back(event.name, cycles(event.count));
  return out;
}

Table runner_table(const fs::path& records) {
  Table table({"runner", "counts", "what"});
  table.add({"native", unit_name(SampleUnit::kSeconds),
             "this machine: a forked child per candidate, wall timeout, guard pages"});
  table.add({"sim", unit_name(SampleUnit::kModelCycles),
             "the embedded RISC-V simulator, with the target's extension and figures"});
  for (const std::string& name : names_in(records)) {
    const RunnerRecord record = read_runner_record(records / (name + ".toml"));
    std::string command;
    for (const std::string& word : record.run.back())
      command += (command.empty() ? "" : " ") + word;
    table.add({name, unit_name(record.unit), command});
  }
  return table;
}

}  // namespace exotune::cli
