#include "executors/shared_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/json_fields.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// A file in the root: where it is missing the file system is not mounted, and nothing may be
// written there.
constexpr const char* kMarker = "exo-tune-cluster";
constexpr const char* kJob = "exo-tune job 1";

std::error_code last_error() { return {errno, std::generic_category()}; }

std::string machine_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// A name that no other process and thread takes, also on another host.
fs::path draft_of(const fs::path& file) {
  static std::atomic<unsigned> count{0};
  return fs::path(file) +=
         ".new-" + machine_name() + "-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

// `durable`: on the disk when it returns, so that a machine that fails afterwards leaves it whole.
bool write_whole(const fs::path& file, const std::string& text, bool durable) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  const bool written = at == text.size() && (!durable || ::fsync(fd) == 0);
  const int why = errno;
  const bool closed = ::close(fd) == 0;
  // The reason of the write that failed, not of the close after it.
  if (!written) errno = why;
  return written && closed;
}

// Fingerprints are hashes, but whoever made one may have had another idea of them.
// A name of a folder comes from it, which must not leave the root.
std::string folder_of_machine(const std::string& machine) {
  return is_hash(machine) ? machine : content_hash(machine);
}

}  // namespace

SharedFolder::SharedFolder(fs::path root, bool make) : root_(fs::absolute(root)) {
  std::error_code failed;
  if (make) {
    for (const char* part : {"requests", "results", "failures", "jobs", "logs"}) {
      fs::create_directories(root_ / part, failed);
      if (failed) lost("cannot be made", failed);
    }
    if (!fs::exists(root_ / kMarker, failed)) write(root_ / kMarker, "format 1\n");
  }
  require();
}

void SharedFolder::lost(const std::string& what, const std::error_code& why) const {
  throw Error(Diagnostic{{},
                         "the shared folder " + root_.string() + " " + what +
                             (why ? ": " + why.message() : std::string()),
                         {},
                         "--cluster-dir names a folder that every node sees and may write; once it "
                         "is back, the same command goes on from what it holds"},
              ExitCode::kUnavailable);
}

void SharedFolder::require() const {
  std::error_code failed;
  if (!fs::exists(root_ / kMarker, failed)) lost("is not there (any more)", failed);
}

// Drafts are renamed, so that a reader on another node sees all of a file or none.
void SharedFolder::write(const fs::path& file, const std::string& text) const {
  const fs::path draft = draft_of(file);
  if (!write_whole(draft, text, /*durable=*/false)) {
    const std::error_code why = last_error();
    // A full disk: the draft is of no use to anybody.
    ::unlink(draft.c_str());
    lost("cannot be written", why);
  }
  std::error_code failed;
  fs::rename(draft, file, failed);
  if (failed) lost("cannot be written", failed);
}

std::string SharedFolder::read(const fs::path& file) const {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) {
    require();
    throw InputError({}, "cannot read " + file.string(), "the same command asks for it again");
  }
  return text.str();
}

void SharedFolder::put_request(const Shard& shard) const {
  const fs::path file = root_ / "requests" / (shard_hash(shard) + ".json");
  std::error_code failed;
  // Named by its hash: if it is there, it is the same.
  if (!fs::exists(file, failed)) write(file, request_text(shard));
}

Shard SharedFolder::request(const std::string& hash) const {
  const fs::path file = root_ / "requests" / (hash + ".json");
  Shard shard = read_request(read(file), file.string());
  if (shard_hash(shard) != hash)
    throw InputError({}, file.string() + " is the request of another shard",
                     "it may be removed; the same command writes it again");
  return shard;
}

fs::path SharedFolder::result_file(const std::string& machine, const std::string& hash) const {
  return root_ / "results" / machine / (hash + ".json");
}

bool SharedFolder::publish(const ShardResult& result) const {
  require();  // a folder below must not be made where the file system is not
  const fs::path file = result_file(folder_of_machine(result.machine), result.hash);
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) lost("cannot be written", failed);
  const fs::path draft = draft_of(file);
  // What took minutes to measure is worth waiting for the disk; the rest would be written again.
  if (!write_whole(draft, result_text(result), /*durable=*/true)) {
    const std::error_code why = last_error();
    ::unlink(draft.c_str());
    lost("cannot be written", why);
  }
  // A link fails where there is a file, a rename replaces it: the first answer stays.
  const bool linked = ::link(draft.c_str(), file.c_str()) == 0;
  const int why = errno;
  if (!linked && why != EEXIST) {  // a file system without links
    fs::rename(draft, file, failed);
    if (failed) lost("cannot be written", failed);
    return true;
  }
  ::unlink(draft.c_str());
  return linked;
}

std::vector<std::string> SharedFolder::machines(const std::string& machine) const {
  if (!machine.empty()) return {folder_of_machine(machine)};
  std::vector<std::string> all;
  std::error_code failed;
  for (fs::directory_iterator at(root_ / "results", failed), end; !failed && at != end;
       at.increment(failed))
    all.push_back(at->path().filename().string());
  if (failed) lost("cannot be read", failed);
  std::sort(all.begin(), all.end());
  return all;
}

std::set<std::string> SharedFolder::answered(const std::string& machine) const {
  std::set<std::string> hashes;
  for (const std::string& each : machines(machine)) {
    std::error_code failed;
    for (fs::directory_iterator at(root_ / "results" / each, failed), end; !failed && at != end;
         at.increment(failed))
      if (at->path().extension() == ".json" && is_hash(at->path().stem().string()))
        hashes.insert(at->path().stem().string());
  }
  return hashes;
}

std::optional<ShardResult> SharedFolder::result(const std::string& machine,
                                                const std::string& hash) const {
  std::error_code failed;
  for (const std::string& each : machines(machine)) {
    const fs::path file = result_file(each, hash);
    if (!fs::exists(file, failed)) continue;
    ShardResult result = read_result(read(file), file.string());
    if (result.hash != hash || folder_of_machine(result.machine) != each)
      throw InputError({}, file.string() + " is the answer to another shard, or another machine's",
                       "it may be removed");
    return result;
  }
  return std::nullopt;
}

void SharedFolder::put_aside(const std::string& machine, const std::string& hash) const {
  std::error_code ignored;
  for (const std::string& each : machines(machine)) {
    const fs::path file = result_file(each, hash);
    if (fs::exists(file, ignored)) fs::rename(file, fs::path(file) += ".unusable", ignored);
  }
}

void SharedFolder::publish(const ShardFailure& failure, const std::string& hash,
                           const std::string& job) const {
  write(root_ / "failures" / (hash + "." + job + ".json"), failure_text(failure));
}

std::optional<ShardFailure> SharedFolder::failure(const std::string& hash,
                                                  const std::string& job) const {
  const fs::path file = root_ / "failures" / (hash + "." + job + ".json");
  std::error_code failed;
  if (!fs::exists(file, failed)) return std::nullopt;
  try {
    return read_failure(read(file), file.string());
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void SharedFolder::put_job(const SubmittedJob& job) const {
  write(root_ / "jobs" / (job.name + ".json"), json_text({{"format", kJob},
                                                          {"name", job.name},
                                                          {"id", job.id},
                                                          {"machine", job.machine},
                                                          {"tasks", job.tasks}}));
}

void SharedFolder::remove_job(const std::string& name) const {
  std::error_code ignored;
  fs::remove(root_ / "jobs" / (name + ".json"), ignored);
}

SubmittedJob SharedFolder::job(const std::string& name) const {
  const fs::path file = root_ / "jobs" / (name + ".json");
  const JsonFields fields(read(file), file.string(), kJob);
  SubmittedJob job = {name, fields.text("id"), fields.text("machine"), fields.lists("tasks")};
  for (const auto& task : job.tasks)
    for (const std::string& hash : task)
      if (!is_hash(hash)) fields.refuse("'tasks' names something that is no shard");
  return job;
}

std::vector<SubmittedJob> SharedFolder::jobs() const {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(root_ / "jobs", failed), end; !failed && at != end;
       at.increment(failed))
    if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  if (failed) lost("cannot be read", failed);
  std::sort(names.begin(), names.end());
  std::vector<SubmittedJob> jobs;
  for (const std::string& name : names) {
    try {
      jobs.push_back(job(name));
    } catch (const InputError&) {
      continue;  // written by another version, or removed meanwhile
    }
  }
  return jobs;
}

}  // namespace exotune
