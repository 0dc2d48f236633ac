#include "runners/command/runner_record.h"

#include <sstream>

#include "core/base/diagnostic.h"
#include "hw/toml_table.h"

namespace exotune {

namespace {

SampleUnit unit_of(const TomlTable& table) {
  static const std::map<std::string, SampleUnit> kKinds = {{"model", SampleUnit::kModelCycles},
                                                           {"instret", SampleUnit::kInstret},
                                                           {"rtl", SampleUnit::kRtlCycles},
                                                           {"fpga", SampleUnit::kFpgaCycles}};
  const std::string kind = table.text("cycle_kind");
  if (const auto it = kKinds.find(kind); it != kKinds.end()) return it->second;
  throw InputError(table.where("cycle_kind"), "'" + kind + "' is no kind of cycle",
                   "model, instret, rtl or fpga");
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

RunnerRecord read(const TomlTable& table) {
  table.allow_only({"name", "cycle_kind", "program", "timeout", "directory", "check", "run", "file",
                    "output", "hint", "without"});
  RunnerRecord record;
  record.name = table.text("name");
  record.unit = unit_of(table);
  const std::string program = table.text_or("program", "bare");
  if (program != "bare" && program != "linux")
    throw InputError(table.where("program"), "'" + program + "' is no kind of program",
                     "bare or linux");
  record.linux = program == "linux";
  record.timeout_seconds = table.number_or("timeout", 0);
  record.directory = table.text_or("directory", "");
  record.hint = table.text_or("hint", "");
  record.without = table.text_or("without", "");
  for (const std::string& command : table.texts("check")) record.check.push_back(words_of(command));
  for (const std::string& command : table.texts("run")) record.run.push_back(words_of(command));
  record.outputs = table.texts("output");
  for (const TomlTable& file : table.tables("file")) {
    file.allow_only({"path", "text", "from"});
    if (file.has("text") == file.has("from"))
      throw InputError(file.where(),
                       "a file of a runner is either 'text' or a copy 'from' another");
    record.files.push_back({file.text("path"), file.text_or("text", ""), file.text_or("from", "")});
  }
  if (record.run.empty() || record.run[0].empty())
    throw InputError(table.where(), "a runner needs commands", "run = [\"simulator {elf}\"]");
  for (const std::vector<std::string>& command : record.check)
    if (command.empty()) throw InputError(table.where("check"), "an empty command");
  return record;
}

}  // namespace

std::string filled_in(const std::string& text, const std::map<std::string, std::string>& words) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return out + text.substr(at);
    const std::string key = text.substr(open + 1, close - open - 1);
    out += text.substr(at, open - at);
    at = close + 1;
    // Braces around anything but a word are text: the files are JSON and the like.
    const bool word =
        !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!word) {
      out += '{';
      at = open + 1;
    } else if (const auto it = words.find(key); it != words.end()) {
      out += it->second;
    } else {
      std::string known;
      for (const auto& [name, value] : words) known += (known.empty() ? "{" : ", {") + name + "}";
      throw InputError({}, "a runner knows nothing of {" + key + "}", known);
    }
  }
  return out;
}

RunnerRecord read_runner_record(const std::filesystem::path& file) {
  return read(TomlTable::read(file));
}

RunnerRecord parse_runner_record(const std::string& text, const std::string& file_name) {
  return read(TomlTable::parse(text, file_name));
}

}  // namespace exotune
