#include "executors/slurm_executor.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <thread>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

constexpr const char* kPrefix = "exo-tune-";  // of the names by which Slurm knows our jobs
// Answers that enter the database in one transaction: others wait for its lock meanwhile, and few
// milliseconds each are what it costs whoever waits.
constexpr size_t kTogether = 256;

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Quoted for the shell that runs a job's script.
std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// In a --output path Slurm reads % as the beginning of a place.
std::string without_places(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

// Unique among coordinators of one user: time, process, count. Sorts by age.
std::string new_job_name(int count) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &parts);
  const std::string number = std::to_string(count);
  return std::string(stamp) + "-" + std::to_string(getpid()) + "-" +
         std::string(number.size() < 6 ? 6 - number.size() : 0, '0') + number;
}

// Where one question stands.
struct Standing {
  // To be submitted, in Slurm's hands, answered, tried too often.
  enum class State { kTodo, kOut, kDone, kGivenUp };
  State state = State::kTodo;
  std::string hash;
  std::vector<size_t> shards;  // that ask it, by place
  std::string job;             // our name of it
  size_t task = 0;
  int attempts = 0;
  double gone = 0;  // seconds since its task was last seen, in polls
  // Nodes where it failed; they are excluded the next time.
  std::set<std::string> avoid;
  std::string node, trouble;
};

// One call of SlurmExecutor::run.
class Coordinator {
 public:
  Coordinator(const SlurmOptions& options, const std::vector<Shard>& shards,
              const ExecutorHooks& hooks)
      : options_(options),
        shards_(shards),
        hooks_(hooks),
        folder_(options.folder),
        pause_(options.pause ? options.pause : sleep_for) {
    // Shards that ask the same thing (the same hash) are one question with several who wait for
    // it.
    for (size_t place = 0; place < shards.size(); ++place) {
      const std::string hash = shard_hash(shards[place]);
      const auto [at, is_new] = places_.emplace(hash, standings_.size());
      if (is_new) standings_.emplace_back();
      standings_[at->second].hash = hash;
      standings_[at->second].shards.push_back(place);
    }
  }

  // The folder is asked before the queue: an answer may be there although Slurm has forgotten the
  // task.
  ExecutorReport run() {
    collect(/*before=*/true);
    adopt();
    while (true) {
      if (hooks_.interrupted && hooks_.interrupted()) return stop();
      look_at_queue();
      collect(/*before=*/false);
      look_for_lost();
      if (!unfinished()) break;
      submit();
      pause_(options_.poll_seconds);
    }
    // Notes about our jobs are removed only when all is done; a coordinator that dies leaves them
    // to the next.
    forget();
    return std::move(report_);
  }

 private:
  using State = Standing::State;

  void say(const std::string& line) const {
    if (hooks_.say) hooks_.say(line);
  }
  // Of several that ask the same, the first one's name is shown.
  const std::string& name_of(const Standing& s) const { return shards_[s.shards.front()].name; }
  bool unfinished() const {
    return std::any_of(standings_.begin(), standings_.end(), [](const Standing& s) {
      return s.state == State::kTodo || s.state == State::kOut;
    });
  }
  bool any_out() const {
    return std::any_of(standings_.begin(), standings_.end(),
                       [](const Standing& s) { return s.state == State::kOut; });
  }

  // Answers that are there and were not taken yet.
  void collect(bool before) {
    folder_.require();
    const std::set<std::string> answered = folder_.answered(options_.machine);
    std::vector<size_t> fresh;
    for (size_t k = 0; k < standings_.size(); ++k) {
      const Standing& s = standings_[k];
      // An answer that comes after giving up is not taken: the caller was told that there is none.
      if (s.state != State::kDone && s.state != State::kGivenUp && answered.count(s.hash) > 0)
        fresh.push_back(k);
    }
    for (size_t first = 0; first < fresh.size(); first += kTogether) {
      const size_t end = std::min(fresh.size(), first + kTogether);
      tell_together(hooks_, [&] {
        for (size_t each = first; each < end; ++each) {
          const Standing& s = standings_[fresh[each]];
          if (!take(fresh[each])) continue;
          report_.done += s.shards.size();
          report_.adopted += before ? s.shards.size() : 0;
        }
      });
    }
  }

  bool take(size_t k) {
    Standing& s = standings_[k];
    try {
      const std::optional<ShardResult> result = folder_.result(options_.machine, s.hash);
      if (!result) return false;
      for (const size_t shard : s.shards) hooks_.finished(shard, *result);
      s.state = State::kDone;
      return true;
      // Cut off or of another version: kept aside for whoever looks into it, and asked again.
    } catch (const InputError& error) {
      folder_.put_aside(options_.machine, s.hash);
      missed(k, "its answer cannot be used: " + error.diagnostic().message.str(), "");
      return false;
    }
  }

  // An attempt came to nothing.
  void missed(size_t k, const std::string& why, const std::string& node, bool lasting = false) {
    Standing& s = standings_[k];
    s.trouble = why;
    if (!node.empty()) s.avoid.insert(node);
    s.gone = 0;
    // lasting: the node said that another attempt anywhere would fail in the same way.
    if (lasting || s.attempts >= options_.attempts) {
      s.state = State::kGivenUp;
      const std::string times =
          lasting ? "" : " (" + std::to_string(s.attempts) + " attempts; the last one)";
      for (const size_t shard : s.shards) report_.given_up.emplace_back(shard, why + times);
      say(name_of(s) + " is given up: " + why);
      return;
    }
    s.state = State::kTodo;
    ++report_.retried;
    say(name_of(s) + " is done again: " + why);
  }

  // What an earlier coordinator submitted.
  void adopt() {
    for (SubmittedJob& job : folder_.jobs()) {
      bool ours = false;
      // A task asks several questions in a row, by their hashes.
      for (size_t task = 0; task < job.tasks.size(); ++task)
        for (const std::string& hash : job.tasks[task]) {
          const auto at = places_.find(hash);
          if (at == places_.end()) continue;
          ours = true;
          put_out(at->second, job.name, task);
        }
      // Jobs of other coordinators in the same folder are theirs.
      if (ours) jobs_[job.name] = std::move(job);
    }
    const size_t out =
        static_cast<size_t>(std::count_if(standings_.begin(), standings_.end(),
                                          [](const auto& s) { return s.state == State::kOut; }));
    if (out > 0) say(std::to_string(out) + " shards were submitted before");
  }

  void put_out(size_t k, const std::string& job, size_t task) {
    Standing& s = standings_[k];
    // An adopted one counts as an attempt, too: a question that kills its node must end somewhere.
    ++s.attempts;
    s.job = job;
    s.task = task;
    s.gone = 0;
    s.node.clear();
    if (s.state == State::kTodo) s.state = State::kOut;
  }

  // Asks Slurm for our tasks. While the controller is silent nothing is known, and nothing lost.
  void look_at_queue() {
    // The controller is asked less often than the folder is read: squeue is a load on everybody.
    since_look_ += options_.poll_seconds;
    if (queue_known_ && since_look_ < options_.queue_seconds) return;
    since_look_ = 0;
    queue_.clear();
    queue_known_ = false;
    const std::optional<std::vector<SlurmTask>> tasks = commands_.tasks();
    if (!tasks) {
      silent_ += options_.poll_seconds;
      if (silent_ > options_.patience_seconds)
        unavailable("Slurm's controller does not answer: " + commands_.silence(),
                    "what runs goes on; once it answers, the same command takes the results");
      return;
    }
    // Silence has to be unbroken for patience_seconds before it is an error.
    silent_ = 0;
    queue_known_ = true;
    std::map<std::string, size_t> waiting;
    for (const SlurmTask& task : *tasks) {
      if (task.name.rfind(kPrefix, 0) != 0) continue;
      const auto at = jobs_.find(task.name.substr(std::string(kPrefix).size()));
      if (at == jobs_.end()) continue;
      // Submitted in the last moments of an earlier coordinator, or while sbatch gave no answer.
      if (at->second.id.empty()) {
        at->second.id = task.job;
        folder_.put_job(at->second);
      }
      if (task.job == at->second.id) queue_[{at->first, task.index}] = task;
      if (task.state == "PENDING") ++waiting[task.reason];
    }
    say_why_waiting(waiting);
    for (auto at = jobs_.begin(); at != jobs_.end();)
      at = at->second.id.empty() ? never_submitted(at) : std::next(at);
  }

  // Not the usual reasons; those that a person can do something about, once each.
  void say_why_waiting(const std::map<std::string, size_t>& waiting) {
    for (const auto& [reason, count] : waiting)
      if (reason != "None" && reason != "Resources" && reason != "Priority" &&
          reasons_.insert(reason).second)
        say(std::to_string(count) + " tasks wait in the queue: " + reason);
  }

  using Jobs = std::map<std::string, SubmittedJob>;
  // Slurm knows no job of this name: it was noted and not submitted.
  Jobs::iterator never_submitted(Jobs::iterator at) {
    for (Standing& s : standings_)
      if (s.state == State::kOut && s.job == at->first) {
        s.state = State::kTodo;
        --s.attempts;
      }
    folder_.remove_job(at->first);
    return jobs_.erase(at);
  }

  const SlurmTask* task_of(const Standing& s) const {
    const auto at = queue_.find({s.job, std::to_string(s.task)});
    return at == queue_.end() ? nullptr : &at->second;
  }

  // A task that is neither queued nor running, without an answer. A shared file system shows an
  // answer some seconds late, so it is lost only after settle_seconds.
  void look_for_lost() {
    if (!queue_known_) return;
    for (size_t k = 0; k < standings_.size(); ++k) {
      Standing& s = standings_[k];
      if (s.state != State::kOut) continue;
      const SlurmTask* const task = task_of(s);
      if (task != nullptr && !task->node.empty()) s.node = task->node;
      if (task != nullptr && task->under_way()) {
        s.gone = 0;
        continue;
      }
      const std::optional<ShardFailure> failure = folder_.failure(s.hash, s.job);
      if (failure) {
        missed(k, reason_of(failure->message), failure->host, failure->lasting);
        continue;
      }
      s.gone += options_.poll_seconds;
      if (s.gone > options_.settle_seconds) missed(k, end_of(s, task), s.node);
    }
  }

  // The message of an error without its "error: ".
  static std::string reason_of(const std::string& printed) {
    const size_t at = printed.find("error: ");
    const std::string text = at == std::string::npos ? printed : printed.substr(at + 7);
    const size_t end = text.find("\nhint:");
    std::string line = text.substr(0, end);
    while (!line.empty() && line.back() == '\n') line.pop_back();
    return line;
  }

  // What a person needs to look into it: the task's number, Slurm's word for its end, the log.
  std::string end_of(const Standing& s, const SlurmTask* task) const {
    const std::string id = jobs_.at(s.job).id + "_" + std::to_string(s.task);
    std::string how = task == nullptr
                          ? commands_.fate(jobs_.at(s.job).id, s.task)
                          : task->state + (task->node.empty() ? "" : " on " + task->node);
    if (how.empty()) how = "it is no longer in the queue";
    return "task " + id + " ended without an answer: " + how + " (" +
           (folder_.log_folder() / (s.job + "_" + std::to_string(s.task) + ".log")).string() + ")";
  }

  void submit() {
    // One job for each set of nodes to avoid, as --exclude is an option of a whole job.
    std::map<std::set<std::string>, std::vector<size_t>> groups;  // by the nodes to avoid
    for (size_t k = 0; k < standings_.size(); ++k) {
      const Standing& s = standings_[k];
      if (s.state == State::kTodo) groups[s.avoid].push_back(k);
    }
    if (groups.empty()) return;
    if (most_tasks_ == 0) most_tasks_ = commands_.most_tasks();
    for (const auto& [avoid, members] : groups) {
      const size_t most = most_tasks_ * options_.bundle;
      for (size_t first = 0; first < members.size(); first += most) {
        const size_t last = std::min(members.size(), first + most);
        if (!submit(avoid, {members.begin() + static_cast<std::ptrdiff_t>(first),
                            members.begin() + static_cast<std::ptrdiff_t>(last)}))
          return;
      }
    }
    full_ = 0;
  }

  // False: not now.
  bool submit(const std::set<std::string>& avoid, const std::vector<size_t>& members) {
    SubmittedJob job;
    job.name = new_job_name(count_++);
    job.machine = options_.machine;
    for (const size_t k : members) {
      folder_.put_request(shards_[standings_[k].shards.front()]);
      if (job.tasks.empty() || job.tasks.back().size() >= options_.bundle) job.tasks.emplace_back();
      job.tasks.back().push_back(standings_[k].hash);
    }
    // Before it is submitted: if we die between the two, the next coordinator finds the name in
    // the queue.
    folder_.put_job(job);
    // The requests are there before any task can start and look for them.
    Submission said = commands_.submit(arguments(job, avoid));
    // With all of its nodes excluded Slurm has none left: then any will do.
    if (said.outcome == Submission::Outcome::kRefused && !avoid.empty())
      said = commands_.submit(arguments(job, {}));
    switch (said.outcome) {
      case Submission::Outcome::kAccepted:
        job.id = said.id;
        folder_.put_job(job);
        break;
      case Submission::Outcome::kUnknown:
        break;  // the next look at the queue tells
      case Submission::Outcome::kFull:
        folder_.remove_job(job.name);
        wait_for_room(said.why);
        return false;
      case Submission::Outcome::kRefused:
        folder_.remove_job(job.name);
        refused(said.why);
    }
    jobs_[job.name] = job;
    queue_known_ = false;  // what is known of the queue is older than this job
    for (size_t task = 0; task < job.tasks.size(); ++task)
      for (const std::string& hash : job.tasks[task]) put_out(places_.at(hash), job.name, task);
    if (said.outcome == Submission::Outcome::kUnknown) {
      say("sbatch gave no clear answer (" + said.why + "); the queue is asked");
      unanswered();
      return false;
    }
    silent_submissions_ = 0;
    say(std::to_string(members.size()) + (members.size() == 1 ? " shard" : " shards") +
        " submitted as job " + job.id);
    return true;
  }

  void wait_for_room(const std::string& why) {
    if (any_out()) return;  // they make room
    full_ += options_.poll_seconds;
    if (full_ > options_.patience_seconds)
      unavailable("Slurm's queue takes no more jobs: " + why,
                  "try later, or take fewer tasks of more shards: --bundle");
    if (reasons_.insert("full").second) say("the queue is full, waiting: " + why);
  }

  // sbatch that never answers while squeue does would be asked for ever.
  void unanswered() {
    silent_submissions_ += options_.poll_seconds;
    if (silent_submissions_ > options_.patience_seconds)
      unavailable("sbatch gives no answer", "is the controller reachable? scontrol ping says it");
  }

  [[noreturn]] void refused(const std::string& why) const {
    if (why.find("nvalid partition") != std::string::npos) {
      const std::vector<std::string> all = commands_.partitions();
      const std::string near = nearest(options_.partition, all);
      std::string list;
      for (const std::string& name : all) list += (list.empty() ? "" : ", ") + name;
      throw InputError({}, "Slurm has no partition '" + options_.partition + "' for you",
                       near.empty() ? "it has: " + list : "did you mean '" + near + "'?");
    }
    unavailable("sbatch refused the job: " + why,
                "--sbatch passes options on, such as --account=NAME or --time=30");
  }

  [[noreturn]] static void unavailable(const std::string& what, const std::string& hint) {
    throw Error(Diagnostic{{}, what, {}, hint}, ExitCode::kUnavailable);
  }

  std::vector<std::string> arguments(const SubmittedJob& job,
                                     const std::set<std::string>& avoid) const {
    std::vector<std::string> words = {
        "--job-name=" + std::string(kPrefix) + job.name,
        "--array=0-" + std::to_string(job.tasks.size() - 1),
        "--output=" + without_places((folder_.log_folder() / job.name).string()) + "_%a.log",
        "--nodes=1",
        "--ntasks=1",
        "--no-requeue"};
    if (options_.exclusive) words.push_back("--exclusive");
    if (!options_.partition.empty()) words.push_back("--partition=" + options_.partition);
    std::string nodes;
    for (const std::string& node : avoid) nodes += (nodes.empty() ? "" : ",") + node;
    if (!nodes.empty()) words.push_back("--exclude=" + nodes);
    words.insert(words.end(), options_.sbatch.begin(), options_.sbatch.end());
    std::string command = "exec";
    for (const std::string& word : options_.worker) command += " " + shell_word(word);
    words.push_back("--wrap=" + command + " " + shell_word(folder_.root().string()) + " " +
                    job.name + " \"$SLURM_ARRAY_TASK_ID\"");
    return words;
  }

  ExecutorReport stop() {
    for (const auto& [name, job] : jobs_)
      if (std::any_of(standings_.begin(), standings_.end(), [&job_name = name](const auto& s) {
            return s.state == State::kOut && s.job == job_name;
          }))
        commands_.cancel(kPrefix + name);
    for (const auto& [name, job] : jobs_) folder_.remove_job(name);
    report_.interrupted = true;
    return std::move(report_);
  }

  // All is answered or given up: a later run begins to count anew.
  void forget() {
    for (const auto& [name, job] : jobs_) folder_.remove_job(name);
  }

  const SlurmOptions& options_;
  const std::vector<Shard>& shards_;
  const ExecutorHooks& hooks_;
  const SharedFolder folder_;
  const SlurmCommands commands_;
  const std::function<void(double)> pause_;
  std::vector<Standing> standings_;
  std::map<std::string, size_t> places_;  // in standings_, by hash
  Jobs jobs_;                             // that have shards of ours
  std::map<std::pair<std::string, std::string>, SlurmTask> queue_;
  std::set<std::string> reasons_;  // said
  ExecutorReport report_;
  bool queue_known_ = false;
  double since_look_ = 0, silent_ = 0, full_ = 0, silent_submissions_ = 0;
  size_t most_tasks_ = 0;
  int count_ = 0;
};

}  // namespace

ExecutorReport SlurmExecutor::run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) {
  SlurmCommands::require();
  return Coordinator(options_, shards, hooks).run();
}

}  // namespace exotune
