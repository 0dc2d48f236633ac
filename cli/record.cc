#include "cli/record.h"

#include <algorithm>
#include <cstdio>

#include "cli/einsum.h"
#include "cli/text_file.h"
#include "core/base/json.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

// Whoever wrote the record wrote whole numbers; anything else is no size.
Sizes sizes_in(const Json* field) {
  Sizes sizes;
  if (field != nullptr && field->fields() != nullptr)
    for (const auto& [name, value] : *field->fields())
      if (value.integer() != nullptr) sizes[name] = *value.integer();
  return sizes;
}

Record from_json(const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw InputError({}, path.string() + ": " + why,
                     "name a .json file, or its folder, that exo-tune kernel wrote");
  };
  Record record;
  const std::string text = read_text_file(path);
  const Json json = Json::parse(text).value_or(Json());
  if (json.fields() == nullptr) refuse("not a record");
  const auto text_of = [&](const char* key) {
    const Json* value = json.find(key);
    return value != nullptr && value->text() != nullptr ? std::optional(*value->text())
                                                        : std::nullopt;
  };
  for (const char* key : {"kernel", "script", "target"})
    if (!text_of(key)) refuse("no text '" + std::string(key) + "'");
  record.kernel = *text_of("kernel");
  record.kernel_hash = text_of("kernel_hash").value_or("");
  const std::string folder = text_of("target_folder").value_or("");
  record.target = folder.empty() ? *text_of("target") : folder;
  const fs::path script = path.parent_path() / *text_of("script");
  record.script = read_text_file(script);
  record.script_name = script.string();
  record.sizes = sizes_in(json.find("sizes"));
  record.measured_at = sizes_in(json.find("measured_at"));
  const Json* threads = json.find("threads");
  if (threads != nullptr && threads->integer() != nullptr)
    record.threads = static_cast<int>(*threads->integer());
  record.trial = text_of("candidate").value_or("");
  record.origin = path.string();
  record.from_file = true;
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

Sizes key_sizes(const TrialKey& key) {
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

Record from_trial(const TrialRecord& trial, const std::string& kernel) {
  Record record;
  record.kernel = kernel;
  record.kernel_hash = trial.key.kernel_hash;
  record.script = trial.script;
  record.script_name = "record " + trial.candidate_id.substr(0, 12);
  record.target = trial.key.target;
  record.measured_at = key_sizes(trial.key);
  if (trial.key.sizes.find(" (symbolic)") == std::string::npos) record.sizes = record.measured_at;
  record.threads = threads_of(trial.key);
  record.origin = "database, candidate " + trial.candidate_id.substr(0, 12);
  record.trial = trial.candidate_id;
  return record;
}

// The kernel that a trial is of: the one that is named, else the built-in one of the trial's
// meaning.
std::string kernel_of_trial(Workspace& workspace, const Store& store, const TrialRecord& trial,
                            const std::string& named) {
  const std::string known = store.kernel_name(trial.key.kernel_hash);
  const std::string candidate = "candidate " + trial.candidate_id.substr(0, 12);
  if (!named.empty()) {
    if (kernel_hash(*workspace.kernel(named).proc) == trial.key.kernel_hash) return named;
    throw InputError(
        {},
        candidate + " is not of " + named + " but of another kernel" +
            (known.empty() ? "" : ", which was called '" + known + "'"),
        "exo-tune db show " + trial.candidate_id.substr(0, 12) + " shows its schedule");
  }
  if (workspace.kernels().find(known) != nullptr &&
      kernel_hash(*workspace.kernel(known).proc) == trial.key.kernel_hash)
    return known;
  throw InputError({},
                   candidate + " is of a kernel of your own" +
                       (known.empty() ? "" : " called '" + known + "'") +
                       ", whose file the database does not keep",
                   "name its file: exo-tune explain " + trial.candidate_id.substr(0, 12) +
                       " --kernel FILE.exo[:proc]; or ask for its winner: exo-tune explain "
                       "FILE.exo[:proc]");
}

// The one trial whose candidate begins so.
TrialRecord only_candidate(const Store& store, const std::string& prefix) {
  TrialFilter filter;
  filter.candidate_prefix = prefix;
  const auto found = store.list(filter);
  if (found.empty())
    throw InputError({}, "no kernel is called '" + prefix + "' and no trial's candidate begins so",
                     "exo-tune db ls shows the candidates, exo-tune list kernels the kernels");
  for (const TrialRecord& trial : found)
    if (trial.candidate_id != found.front().candidate_id)
      throw InputError({}, "several candidates begin with '" + prefix + "'",
                       found.front().candidate_id.substr(0, 12) + ", " +
                           trial.candidate_id.substr(0, 12) + ", ...: give more of the one");
  return found.front();
}

// A target that is a folder is kept in records by the name in its text.
std::string target_name(Workspace& workspace, const std::string& target) {
  return target.find('/') == std::string::npos ? target : workspace.target(target)->name;
}

bool is_kernel(Workspace& workspace, const std::string& text) {
  return einsum_of(text).has_value() || text.find(".exo") != std::string::npos ||
         workspace.kernels().find(text) != nullptr;
}

// InputError when there is none, with the command that finds one.
std::vector<TrialRecord> winners_of(Workspace& workspace, const Store& store,
                                    const std::string& text, const std::string& target,
                                    const Sizes& sizes) {
  TrialFilter filter;
  filter.kernel = kernel_hash(*workspace.kernel(text).proc);
  filter.target = target_name(workspace, target);
  std::vector<TrialRecord> found = store.winners(filter);
  if (!sizes.empty())
    std::erase_if(found, [&](const TrialRecord& trial) { return key_sizes(trial.key) != sizes; });
  if (!found.empty()) return found;
  filter.kernel = workspace.kernel(text).name;
  const bool namesake = !store.winners(filter).empty();
  throw InputError(
      {},
      "the database has no schedule of " + text + (sizes.empty() ? "" : " at " + str(sizes)) +
          (namesake && sizes.empty() ? ", only of another kernel of that name" : ""),
      "find one: exo-tune kernel " + text + (target.empty() ? "" : " --target " + target) +
          (sizes.empty() ? "" : " --size " + str(sizes)));
}

// A target of the user's own is found by its folder only, which the database does not keep.
void leave_known_targets(Workspace& workspace, const std::string& text,
                         std::vector<TrialRecord>& found) {
  const std::vector<std::string> names = workspace.targets().names();
  const std::string own = found.front().key.target;
  std::erase_if(found, [&](const TrialRecord& trial) {
    return std::find(names.begin(), names.end(), trial.key.target) == names.end();
  });
  if (found.empty())
    throw InputError(
        {}, "the database has schedules of " + text + " only for " + own + ", a target of your own",
        "name its folder: --target ./" + own);
}

}  // namespace

Record find_record(Workspace& workspace, const std::string& text, const std::string& database,
                   const std::string& target, const Sizes& sizes, const std::string& kernel) {
  std::error_code ignored;
  if (fs::is_directory(text, ignored)) return from_json(only_json(text));
  if (text.ends_with(".json")) return from_json(text);

  const bool is_name = is_kernel(workspace, text);
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_name && !hex) workspace.kernels().at(text);  // refuses, and names the nearest
  const auto store = open_store(database, OpenMode::kReadOnly);
  if (!is_name) {
    const TrialRecord trial = only_candidate(*store, text);
    return from_trial(trial, kernel_of_trial(workspace, *store, trial, kernel));
  }

  std::vector<TrialRecord> found = winners_of(workspace, *store, text, target, sizes);
  if (target.empty()) leave_known_targets(workspace, text, found);
  std::stable_sort(found.begin(), found.end(), [](const TrialRecord& a, const TrialRecord& b) {
    return a.created > b.created;
  });
  Record record = from_trial(found.front(), text);
  if (!target.empty()) record.target = target;
  return record;
}

}  // namespace exotune::cli
