#include "runners/command/command_runner.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/subprocess.h"
#include "core/base/words.h"
#include "runners/command/outcome.h"
#include "runners/command/program.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

namespace fs = std::filesystem;
using Words = std::map<std::string, std::string>;

// The files that match, sorted. `pattern` is relative to `folder` or absolute; * is within a name.
std::vector<fs::path> matching(const fs::path& folder, const std::string& pattern) {
  std::vector<fs::path> found = {pattern.rfind('/', 0) == 0 ? fs::path("/") : folder};
  // Folder by folder, so that a pattern may stand in any of them.
  for (const fs::path& part : fs::path(pattern).relative_path()) {
    std::vector<fs::path> next;
    for (const fs::path& at : found) {
      if (part.string().find('*') == std::string::npos) {
        if (fs::exists(at / part)) next.push_back(at / part);
        continue;
      }
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(at, ignored))
        if (fnmatch(part.c_str(), entry.path().filename().c_str(), 0) == 0)
          next.push_back(entry.path());
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The results of earlier runs, which do not count: by name and by when they were written.
class Results {
 public:
  Results(fs::path folder, std::vector<std::string> patterns)
      : folder_(std::move(folder)), patterns_(std::move(patterns)), before_(stamps()) {}

  /// What is new, the last by name when several are; "" and a cause when nothing is.
  std::string text(std::string* cause) const {
    fs::path last;
    // A file that was written again has another time, and counts as new.
    for (const auto& stamp : stamps())
      if (!before_.count(stamp)) last = stamp.first;
    if (last.empty())
      *cause = "the run left no " + (patterns_.empty() ? std::string("result") : patterns_.front());
    return last.empty() ? "" : content(last);
  }

 private:
  using Stamp = std::pair<fs::path, fs::file_time_type>;
  std::set<Stamp> stamps() const {
    std::set<Stamp> out;
    std::error_code ignored;
    for (const std::string& pattern : patterns_)
      for (const fs::path& file : matching(folder_, pattern))
        out.emplace(file, fs::last_write_time(file, ignored));
    return out;
  }
  fs::path folder_;
  std::vector<std::string> patterns_;
  std::set<Stamp> before_;
};

std::string first_lines(const std::string& text) {
  const size_t end = text.find_last_not_of(" \r\n");
  return end == std::string::npos ? "" : text.substr(0, std::min<size_t>(end + 1, 300));
}

}  // namespace

struct CommandRunner::Impl {
  Impl(TargetToolchain toolchain, RunnerRecord r, CommandRunnerOptions o)
      : record(std::move(r)), options(std::move(o)), directory(options.work_directory) {
    // Every place of the record is filled in once with anything, so that a misspelt one is an
    // error before the first candidate is built.
    const Words words = words_for("ID", "ELF");
    for (const auto& command : record.run) {
      for (const std::string& word : command) filled_in(word, words);
      const std::string program = filled_in(command[0], words);
      // On PATH, or a file of the record's own folder.
      if (!find_program(program).empty() || fs::exists(fs::path(folder()) / program)) continue;
      unavailable("needs '" + program + "', which is not on PATH");
    }
    for (const RunnerRecord::File& file : record.files)
      filled_in(file.path, words), filled_in(file.text, words), filled_in(file.from, words);
    for (const auto& command : record.check) check(command);
    builder.emplace(std::move(toolchain), directory.path(), options.compile_timeout_seconds,
                    record.linux ? ProgramForm::kLinux : ProgramForm::kBareMetal);
  }

  [[noreturn]] void unavailable(const std::string& why) const {
    throw Error(Diagnostic{{}, "the runner '" + record.name + "' " + why, {}, record.hint},
                ExitCode::kUnavailable);
  }

  // What every candidate would fail by is found out before the first one.
  void check(const std::vector<std::string>& command) const {
    Words words = options.words;
    words["directory"] = folder();
    std::vector<std::string> argv;
    for (const std::string& word : command) argv.push_back(filled_in(word, words));
    const CommandResult r = run_command(argv, {folder(), 60, {}});
    if (r.ok() || r.stopped) return;
    const std::string said = first_lines(r.err + r.out);
    unavailable("does not work here: " + (said.empty() ? joined(argv, " ") + " failed" : said));
  }

  std::string folder() const {
    return record.directory.empty() ? directory.path() : record.directory;
  }

  Words words_for(const std::string& id, const std::string& elf) const {
    Words words = options.words;
    words["id"] = id;
    words["elf"] = elf;
    words["directory"] = folder();
    return words;
  }

  TrialResult judge(const Candidate& candidate, const RunOptions& run) {
    const BuiltProgram program = builder->build(candidate);
    if (!program.ok()) return unbuilt(candidate, program, run);
    // A name that any tool takes.
    const Words words = words_for("exo_" + content_hash(candidate.id), program.elf);
    for (const RunnerRecord::File& file : record.files) {
      const fs::path path = fs::path(folder()) / filled_in(file.path, words);
      fs::create_directories(path.parent_path());
      if (file.from.empty())
        std::ofstream(path) << filled_in(file.text, words);
      else
        fs::copy_file(filled_in(file.from, words), path, fs::copy_options::overwrite_existing);
    }
    std::vector<std::string> patterns;
    for (const std::string& pattern : record.outputs) patterns.push_back(filled_in(pattern, words));
    // What is there before the run is not its result.
    const Results results(folder(), patterns);
    return execute(candidate, words, results,
                   record.timeout_seconds > 0 ? record.timeout_seconds : run.timeout_seconds);
  }

  TrialResult execute(const Candidate& candidate, const Words& words, const Results& results,
                      double seconds) {
    const auto start = std::chrono::steady_clock::now();
    std::string printed, cause;
    for (const auto& command : record.run) {
      std::vector<std::string> argv;
      for (const std::string& word : command) argv.push_back(filled_in(word, words));
      // One time limit for all commands of a candidate.
      const double spent =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const CommandResult r = run_command(argv, {folder(), std::max(0.01, seconds - spent), {}});
      // Some simulators print to one, some to the other.
      printed += r.out + r.err;
      if (r.timed_out) {
        TrialResult late;
        late.candidate_id = candidate.id;
        late.status = TrialStatus::kTimeout;
        late.cause = argv[0] + " took longer than its time limit";
        return late;
      }
      if (!r.started) cause = argv[0] + " could not be started";
    }
    if (!record.outputs.empty()) printed = results.text(&cause);
    const ContractOutput output = read_contract(printed);
    TrialResult result = judge_output(candidate, output, cause);
    // A tool that says nothing of our contract: its own words may tell why.
    if (output.runs.empty() && !result.ok() && !output.trapped && !printed.empty())
      result.cause += ": " + first_lines(printed);
    return result;
  }

  RunnerRecord record;
  CommandRunnerOptions options;
  WorkDirectory directory;
  std::optional<ProgramBuilder> builder;
};

CommandRunner::CommandRunner(TargetToolchain toolchain, RunnerRecord record,
                             CommandRunnerOptions options)
    : impl_(std::make_unique<Impl>(std::move(toolchain), std::move(record), std::move(options))) {}

CommandRunner::~CommandRunner() = default;

std::string CommandRunner::name() const { return impl_->record.name; }

SampleUnit CommandRunner::unit() const { return impl_->record.unit; }

std::vector<TrialResult> CommandRunner::run(std::span<const Candidate> candidates,
                                            const TestCase& test, const RunOptions& options) {
  std::vector<TrialResult> results(candidates.size());
  // One test for all: its data are compiled once.
  if (!candidates.empty()) impl_->builder->prepare(candidates[0].args, test);
  for (size_t k = 0; k < candidates.size(); ++k) {
    results[k].candidate_id = candidates[k].id;
    results[k].cause = "interrupted";
    if (options.interrupted && options.interrupted()) continue;
    results[k] = impl_->judge(candidates[k], options);
    if (options.finished) options.finished(k, results[k]);
  }
  return results;
}

}  // namespace exotune
