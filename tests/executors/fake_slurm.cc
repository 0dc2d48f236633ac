#include "tests/executors/fake_slurm.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "executors/worker.h"

namespace exotune::testing {
namespace {
namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

// Fails while there are failures to come, and notes what it was called with.
constexpr const char* kBegin = R"(#!/bin/sh
root=$(dirname "$0")
line=
for word in "$@"; do line="$line[$word]"; done
me=$(basename "$0")
printf '%s\n' "$line" >> "$root/$me.calls"
left=$(cat "$root/$me.failures" 2>/dev/null || echo 0)
if [ "$left" -gt 0 ]; then
  echo $((left - 1)) > "$root/$me.failures"
  cat "$root/$me.message" >&2
  exit 1
fi
)";
constexpr const char* kSubmit = R"(
id=$(( $(cat "$root/last" 2>/dev/null || echo 100) + 1 ))
echo "$id" > "$root/last"
printf '%s\n' "$line" > "$root/job-$id"
lost=$(cat "$root/lost" 2>/dev/null || echo 0)
if [ "$lost" -gt 0 ]; then
  echo $((lost - 1)) > "$root/lost"
  echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2
  exit 1
fi
echo "$id"
)";

std::string option(const std::string& line, const std::string& name) {
  const size_t at = line.find("[--" + name + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 4;
  return line.substr(begin, line.find(']', begin) - begin);
}

}  // namespace

FakeSlurm::FakeSlurm() {
  std::string name = (fs::temp_directory_path() / "exo-tune-slurm-XXXXXX").string();
  root_ = mkdtemp(name.data());
  path_ = getenv("PATH");
  setenv("PATH", (root_.string() + ":/usr/bin:/bin").c_str(), 1);
  script("sbatch", kSubmit);
  script("squeue", "cat \"$root/queue\" 2>/dev/null || true\n");
  script("scancel", "");
  script("sacct", "");
  script("sinfo", "printf 'tune\\nlong\\n'\n");
  script("scontrol", "echo 'MaxArraySize            = 4'\n");
  fate = [this](const FakeTask& task) { return answer(task); };
  work = [](const Shard& shard, const std::string&) {
    std::string text = shard.input;
    for (char& c : text) c = static_cast<char>(toupper(c));
    return ShardAnswer{std::string(32, 'a'), text};
  };
}

FakeSlurm::~FakeSlurm() {
  setenv("PATH", path_.c_str(), 1);
  unsetenv("SLURMD_NODENAME");
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void FakeSlurm::script(const std::string& program, const std::string& text) const {
  write(root_ / program, kBegin + text);
  fs::permissions(root_ / program, fs::perms::owner_all);
}

SlurmOptions FakeSlurm::options() {
  SlurmOptions options;
  options.folder = folder();
  options.worker = {"exo-tune", "worker"};
  options.machine = std::string(32, 'a');
  options.poll_seconds = 1;
  options.queue_seconds = 1;
  options.settle_seconds = 1;
  options.patience_seconds = 3;
  options.pause = [this](double) { play(); };
  return options;
}

std::string FakeSlurm::answer(const FakeTask& task) {
  setenv("SLURMD_NODENAME", node.c_str(), 1);
  run_task(SharedFolder(folder(), false), task.job, task.index, work);
  return "";
}

void FakeSlurm::fail(const std::string& program, const std::string& message, int times) {
  write(root_ / (program + ".failures"), std::to_string(times));
  write(root_ / (program + ".message"), message + "\n");
}

void FakeSlurm::lose_replies(int times) { write(root_ / "lost", std::to_string(times)); }

void FakeSlurm::remove(const std::string& program) {
  fs::remove(root_ / program);
  setenv("PATH", root_.c_str(), 1);  // a real one must not be found instead
}

std::string FakeSlurm::calls(const std::string& program) const {
  return read(root_ / (program + ".calls"));
}

void FakeSlurm::learn_of_jobs() {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(root_))
    if (entry.path().filename().string().rfind("job-", 0) == 0)
      files.insert(entry.path().filename().string());
  for (const std::string& file : files) {
    if (!known_.insert(file).second) continue;
    const std::string line = read(root_ / file);
    FakeTask task;
    task.id = file.substr(4);
    task.job = option(line, "job-name").substr(9);
    std::istringstream nodes(option(line, "exclude"));
    for (std::string each; std::getline(nodes, each, ',');) task.excluded.insert(each);
    const size_t last = std::stoul(option(line, "array").substr(2));
    for (task.index = 0; task.index <= last; ++task.index) tasks_.push_back({task, "PENDING"});
  }
}

void FakeSlurm::play() {
  ++played;
  learn_of_jobs();
  std::string queue;
  for (auto& [task, state] : tasks_) {
    if (state == "PENDING" || state == "RUNNING") {
      task.attempt = ran_++;
      state = fate(task);
    }
    if (!state.empty())
      queue += task.id + "|" + std::to_string(task.index) + "|" + state + "|" +
               (state == "PENDING" ? "" : node) + "|None|exo-tune-" + task.job + "\n";
  }
  write(root_ / "queue", queue);
}

}  // namespace exotune::testing
