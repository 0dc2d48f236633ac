#include "cli/record.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/text_file.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

Record from_json(const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw InputError({}, path.string() + ": " + why,
                     "name a .json file, or its folder, that exo-tune kernel wrote");
  };
  Record record;
  const std::string text = read_text_file(path);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) refuse("not a record");
  for (const char* key : {"kernel", "script", "target"})
    if (!json.contains(key) || !json[key].is_string()) refuse("no text '" + std::string(key) + "'");
  record.kernel = json["kernel"];
  record.target = json["target"];
  const fs::path script = path.parent_path() / json["script"].get<std::string>();
  record.script = read_text_file(script);
  record.script_name = script.string();
  if (json.contains("sizes") && json["sizes"].is_object())
    for (const auto& [name, value] : json["sizes"].items())
      if (value.is_number_integer()) record.sizes[name] = value;
  if (json.contains("threads") && json["threads"].is_number_integer())
    record.threads = json["threads"];
  if (json.contains("candidate") && json["candidate"].is_string()) record.trial = json["candidate"];
  record.origin = path.string();
  return record;
}

fs::path only_json(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  if (found.empty())
    throw InputError({}, folder.string() + " holds no record (.json)",
                     "exo-tune kernel NAME -o " + folder.string() + " makes one");
  if (found.size() > 1)
    throw InputError({}, folder.string() + " holds " + std::to_string(found.size()) + " records",
                     "name one: " + found.front().string());
  return found.front();
}

// A context's sizes as the database writes them: those of a kernel for any size, and those for
// several threads, are marked: "N=512 (symbolic)", "N=512 (2 threads)".
constexpr const char* kMark = " (";

Sizes sizes_of(const TrialKey& key) {
  const std::string text = key.sizes.substr(0, key.sizes.find(kMark));
  return text.empty() ? Sizes{} : parse_sizes("record", text);
}

int threads_of(const TrialKey& key) {
  int threads = 1;
  const size_t mark = key.sizes.rfind(kMark);
  if (mark != std::string::npos && key.sizes.ends_with(" threads)"))
    std::sscanf(key.sizes.c_str() + mark, " (%d", &threads);
  return threads;
}

Record from_trial(const Store& store, const TrialRecord& trial) {
  Record record;
  record.kernel = store.kernel_name(trial.key.kernel_hash);
  record.script = trial.script;
  record.script_name = "record " + trial.candidate_id.substr(0, 12);
  record.target = trial.key.target;
  record.sizes = sizes_of(trial.key);
  record.threads = threads_of(trial.key);
  record.origin = "database, candidate " + trial.candidate_id.substr(0, 12);
  record.trial = trial.candidate_id;
  return record;
}

bool is_kernel(Workspace& workspace, const std::string& text) {
  return text.find(".exo") != std::string::npos || workspace.kernels().find(text) != nullptr;
}

}  // namespace

Record find_record(Workspace& workspace, const std::string& text, const std::string& database,
                   const std::string& target, const Sizes& sizes) {
  std::error_code ignored;
  if (fs::is_directory(text, ignored)) return from_json(only_json(text));
  if (text.ends_with(".json")) return from_json(text);

  const bool kernel = is_kernel(workspace, text);
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!kernel && !hex) workspace.kernels().at(text);  // refuses, and names the nearest
  const auto store = open_store(database, OpenMode::kReadOnly);
  if (!kernel) {
    TrialFilter filter;
    filter.candidate_prefix = text;
    const auto found = store->list(filter);
    if (found.empty())
      throw InputError({}, "no kernel is called '" + text + "' and no trial's candidate begins so",
                       "exo-tune db ls shows the candidates, exo-tune list kernels the kernels");
    return from_trial(*store, found.front());
  }

  TrialFilter filter;
  filter.kernel = workspace.kernel(text).name;
  filter.target = target;
  auto found = store->winners(filter);
  if (!sizes.empty())
    std::erase_if(found, [&](const TrialRecord& trial) { return sizes_of(trial.key) != sizes; });
  if (found.empty())
    throw InputError(
        {}, "the database has no schedule of " + text + (sizes.empty() ? "" : " at " + str(sizes)),
        "find one: exo-tune kernel " + text + (sizes.empty() ? "" : " --size " + str(sizes)));
  std::stable_sort(found.begin(), found.end(), [](const TrialRecord& a, const TrialRecord& b) {
    return a.created > b.created;
  });
  Record record = from_trial(*store, found.front());
  record.kernel = text;
  return record;
}

}  // namespace exotune::cli
