#include "cli/command_shard.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "cli/text_file.h"
#include "core/base/json.h"
#include "core/base/json_fields.h"
#include "core/base/subprocess.h"
#include "db/record_text.h"
#include "db/store.h"
#include "runners/work_directory.h"
#include "search/trials.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

constexpr double kLongest = 30 * 24 * 3600.0;  // seconds: Slurm's limits end it before
constexpr size_t kLargestFile = 16 << 20;

// Files by plain names.
std::map<std::string, std::string> files_in(const JsonFields& fields) {
  std::map<std::string, std::string> files = fields.texts_by_name("files");
  for (const auto& [name, text] : files)
    if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos)
      fields.refuse("a file's name leads elsewhere");
  return files;
}

CommandQuestion read_question(const Shard& shard, std::string& engine) {
  const JsonFields reader(shard.input, "the request " + shard.name);
  CommandQuestion question;
  engine = reader.text("engine");
  question.name = shard.name;
  question.arguments = reader.texts("arguments");
  question.files = files_in(reader);
  question.target = reader.text("target");
  question.target_hash = reader.text("target_hash");
  question.after = reader.texts("after");
  const std::vector<std::string>& words = question.arguments;
  if (words.empty() || (words[0] != "kernel" && words[0] != "calibrate"))
    reader.refuse("no worker runs this verb");
  // Where things are written is the worker's to say.
  for (const std::string& word : words)
    for (const char* own : {"-o", "--db", "--stem", "--executor", "--cluster-dir"})
      if (word.rfind(own, 0) == 0) reader.refuse("a request does not say " + word);
  for (const std::string& hash : question.after)
    if (!is_hash(hash)) reader.refuse("'after' names something that is no shard");
  return question;
}

[[noreturn]] void not_here(const std::string& why, const std::string& hint) {
  throw Error(Diagnostic{{}, why, {}, hint}, ExitCode::kUnavailable);
}

// The worker's own database, with what the shard begins with.
void prepare_database(const std::string& path, const CommandQuestion& question,
                      const std::string& machine, const SharedFolder* folder) {
  const std::unique_ptr<Store> store = open_store(path);
  for (const std::string& hash : question.after) {
    const std::optional<ShardResult> earlier =
        folder == nullptr ? std::nullopt : folder->result(machine, hash);
    if (!earlier) not_here("the answer " + hash + " that this comes after is not there", "");
    const CommandAnswer answer = read_command_answer(earlier->output, "the answer " + hash);
    std::istringstream lines(answer.records);
    store->import_json_lines(lines, "the records of " + hash);
  }
}

std::string records_in(const std::string& path) {
  std::ostringstream out;
  open_store(path)->export_json_lines(out);
  return out.str();
}

// The first error of what a command said on stderr, with its notes.
std::string error_in(const std::string& said) {
  const size_t at = said.find("error: ");
  return at == std::string::npos ? "it said nothing" : said.substr(at + 7);
}

CommandResult run_question(const CommandQuestion& question, const fs::path& folder) {
  for (const auto& [name, text] : question.files) write_text_file(folder / name, text);
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), question.arguments.begin(), question.arguments.end());
  words.insert(words.end(), {"--db=" + (folder / "tune.db").string(), "--executor=local"});
  if (question.arguments[0] == "kernel")
    words.insert(words.end(), {"-o", (folder / "out").string(), "--stem", kAnswerStem});
  CommandOptions options;
  options.directory = folder.string();
  options.timeout_seconds = kLongest;
  CommandResult said = run_command(words, options);
  const bool answered = said.exit_status == 0 || said.exit_status == 3 || said.exit_status == 4;
  if (said.signal == 0 && answered) return said;
  if (said.signal == 0 && said.exit_status == static_cast<int>(ExitCode::kInput))
    throw InputError({}, error_in(said.err));
  not_here(said.signal != 0 ? "signal " + std::to_string(said.signal) + " ended the search"
                            : error_in(said.err),
           "");
}

std::string without_controls(const std::string& text) {
  std::string out;
  for (const char c : valid_utf8(text))
    if (c == '\n' || static_cast<unsigned char>(c) >= 32) out += c == 127 ? '?' : c;
  return out;
}

}  // namespace

Shard command_shard(const CommandQuestion& question) {
  const Json json = {{"engine", engine_version()},
                     {"arguments", question.arguments},
                     {"files", question.files},
                     {"target", question.target},
                     {"target_hash", question.target_hash},
                     {"kernel_hash", question.kernel_hash},
                     {"after", question.after},
                     {"asked", question.asked}};
  return {question.name, kCommandKind, json.str(1)};
}

ShardAnswer answer_command(const Shard& shard, const std::string& wanted, Workspace& workspace,
                           const SharedFolder* folder) {
  std::string engine;
  const CommandQuestion question = read_question(shard, engine);
  const TargetPtr target = workspace.target(question.target);
  const Fingerprint here = fingerprint(workspace.machine(), *target);
  require_wanted(wanted, here.hash, here.microarch);
  if (engine != engine_version() || target->hash != question.target_hash)
    not_here("exo-tune here is of another version than where the request is from",
             "every node must see the same installation");
  const WorkDirectory work;
  const std::string database = work.path() + "/tune.db";
  prepare_database(database, question, wanted, folder);
  const CommandResult said = run_question(question, work.path());
  Json files = Json::object();
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(work.path() + "/out", failed))
    files[entry.path().filename().string()] = read_text_file(entry.path());
  const Json answer = {{"exit", said.exit_status},
                       {"out", said.out},
                       {"files", files},
                       {"records", records_in(database)}};
  return {here.hash, answer.str(1)};
}

CommandAnswer read_command_answer(const std::string& output, const std::string& name) {
  const JsonFields reader(output, "the answer for " + name);
  CommandAnswer answer;
  answer.exit_status = static_cast<int>(reader.integer("exit"));
  answer.out = without_controls(reader.text("out"));
  answer.files = files_in(reader);
  for (const auto& [file, text] : answer.files)
    if (text.size() > kLargestFile) reader.refuse(file + " is too large");
  answer.records = reader.text("records");
  std::istringstream lines(answer.records);
  read_json_lines(lines, "the records for " + name);  // refuses what is none
  return answer;
}

std::string target_elsewhere(const std::string& typed, const Target& chosen) {
  if (typed.find('/') == std::string::npos) return chosen.name;
  return fs::absolute(typed).lexically_normal().string();
}

}  // namespace exotune::cli
