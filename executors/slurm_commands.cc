#include "executors/slurm_commands.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"

namespace exotune {
namespace {

constexpr double kSeconds = 60;           // a busy controller takes its time
constexpr size_t kUsualMostTasks = 1001;  // MaxArraySize where nothing is configured

bool mentions(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

std::string first_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line))
    if (!line.empty()) return line;
  return "";
}

std::vector<std::string> fields_of(const std::string& line, size_t count) {
  std::vector<std::string> fields;
  size_t at = 0;
  while (fields.size() + 1 < count) {
    const size_t bar = line.find('|', at);
    if (bar == std::string::npos) break;
    fields.push_back(line.substr(at, bar - at));
    at = bar + 1;
  }
  fields.push_back(line.substr(at));  // the last may hold bars
  return fields;
}

CommandResult run(const std::vector<std::string>& words) {
  CommandOptions options;
  options.timeout_seconds = kSeconds;
  // What a user set for squeue and sbatch by hand changes what they print and do.
  options.unset_environment_prefixes = {"SQUEUE_", "SBATCH_PARSABLE", "SLURM_JOB", "SLURM_ARRAY_",
                                        "SLURM_TIME_FORMAT"};
  return run_command(words, options);
}

}  // namespace

bool SlurmTask::under_way() const {
  static constexpr std::array<const char*, 12> kStates = {
      "PENDING",  "RUNNING",  "CONFIGURING", "COMPLETING", "SUSPENDED",    "STOPPED",
      "REQUEUED", "RESIZING", "SIGNALING",   "STAGE_OUT",  "REQUEUE_HOLD", "REQUEUE_FED"};
  return std::find(kStates.begin(), kStates.end(), state) != kStates.end();
}

void SlurmCommands::require() {
  for (const char* program : {"sbatch", "squeue", "scancel"})
    if (find_program(program).empty())
      throw Error(Diagnostic{{},
                             std::string("there is no `") + program +
                                 "` here, so nothing can be sent to a Slurm cluster",
                             {},
                             "log in to a node that submits jobs, install slurm-client, or leave "
                             "--executor away: this machine does the work"},
                  ExitCode::kUnavailable);
}

Submission SlurmCommands::submit(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {"sbatch", "--parsable"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const CommandResult said = run(words);
  Submission out;
  out.why = first_line(said.err);
  if (out.why.rfind("sbatch: error: ", 0) == 0) out.why.erase(0, 15);
  if (said.ok()) {
    // "123" or "123;cluster"
    const std::string id = first_line(said.out).substr(0, first_line(said.out).find(';'));
    const bool number = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
    out.outcome = number ? Submission::Outcome::kAccepted : Submission::Outcome::kUnknown;
    out.id = id;
    return out;
  }
  if (said.timed_out || said.stopped || said.signal != 0 ||
      mentions(said.err, {"Socket timed out", "Unable to contact", "Zero Bytes", "Communication"}))
    out.outcome = Submission::Outcome::kUnknown;
  else if (mentions(said.err, {"SubmitJob", "job submit limit", "MaxJobCount", "MaxSubmit",
                               "emporarily un", "max job count"}))
    out.outcome = Submission::Outcome::kFull;
  if (said.timed_out) out.why = "sbatch did not answer";
  return out;
}

std::optional<std::vector<SlurmTask>> SlurmCommands::tasks() const {
  const CommandResult said = run(
      {"squeue", "--me", "--states=all", "--array", "--noheader", "--format=%F|%K|%T|%N|%r|%j"});
  if (!said.ok()) {
    silence_ = said.timed_out ? "squeue did not answer" : first_line(said.err);
    return std::nullopt;
  }
  std::vector<SlurmTask> tasks;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> f = fields_of(line, 6);
    if (f.size() == 6) tasks.push_back({f[0], f[1], f[2], f[3], f[4], f[5]});
  }
  return tasks;
}

std::string SlurmCommands::fate(const std::string& job, size_t index) const {
  if (find_program("sacct").empty()) return "";
  const CommandResult said =
      run({"sacct", "--noheader", "--parsable2", "--allocations",
           "--jobs=" + job + "_" + std::to_string(index), "--format=State,NodeList,ExitCode"});
  if (!said.ok()) return "";
  const std::vector<std::string> f = fields_of(first_line(said.out), 3);
  return f.size() < 3 ? "" : f[0] + " on " + f[1];
}

void SlurmCommands::cancel(const std::string& name) const {
  run({"scancel", "--me", "--name=" + name});
}

std::vector<std::string> SlurmCommands::partitions() const {
  std::vector<std::string> names;
  if (find_program("sinfo").empty()) return names;
  std::istringstream lines(run({"sinfo", "--noheader", "--format=%R"}).out);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && std::find(names.begin(), names.end(), line) == names.end())
      names.push_back(line);
  return names;
}

size_t SlurmCommands::most_tasks() const {
  if (find_program("scontrol").empty()) return kUsualMostTasks;
  const std::string said = run({"scontrol", "show", "config"}).out;
  const size_t at = said.find("MaxArraySize");
  if (at == std::string::npos) return kUsualMostTasks;
  const size_t digits = said.find_first_of("0123456789", at);
  if (digits == std::string::npos) return kUsualMostTasks;
  std::istringstream number(said.substr(digits, 12));
  size_t most = 0;
  number >> most;
  return most > 1 ? most : kUsualMostTasks;
}

}  // namespace exotune
