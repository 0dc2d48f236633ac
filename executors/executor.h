#pragma once
// Executor: who works on shards: this process (LocalExecutor) or a cluster (slurm_executor.h).
// Start at Executor::run.
//
// However a run ends, by an interrupt, an error or kill -9, running the same shards again goes on:
// an answer that is there is taken, work that is under way is waited for, and the rest is done.
#include <functional>
#include <string>
#include <vector>

#include "executors/shard.h"

namespace exotune {

/// Answers one shard. `wanted`: the fingerprint of the machine it is asked of, "" for any; where it
/// is another one, Error(kUnavailable). An InputError means that the input is wrong everywhere; any
/// other Error, that it may work elsewhere.
struct ShardAnswer {
  std::string machine;  // fingerprint of this one
  std::string output;
};
using ShardWork = std::function<ShardAnswer(const Shard& shard, const std::string& wanted)>;

struct ExecutorHooks {
  /// Told of each answer, once a shard, in the calling thread. An InputError thrown here says that
  /// the answer is worth nothing: the shard is done again, up to the executor's limit.
  std::function<void(size_t shard, const ShardResult& result)> finished;
  /// Runs what it is given, which tells of several answers: for who keeps them, all at once. May be
  /// empty. Answers that were told of stay in the shared folder, so that a coordinator that dies
  /// before this returns is told of them again.
  std::function<void(const std::function<void()>& tell)> together;
  /// One line for people; may be empty.
  std::function<void(const std::string&)> say;
  /// True ends the run; may be empty.
  std::function<bool()> interrupted;
};

struct ExecutorReport {
  size_t done = 0;
  size_t adopted = 0;  // of them, answers that were there before
  size_t retried = 0;  // attempts that came to nothing and were made again
  bool interrupted = false;
  /// Shards that have no answer and will get none now, with the reason.
  std::vector<std::pair<size_t, std::string>> given_up;
};

/// `tell` by way of `hooks.together`, where there is one.
void tell_together(const ExecutorHooks& hooks, const std::function<void()>& tell);

/// Error(kUnavailable) that names what was given up: "3 kernels were not measured".
[[noreturn]] void refuse_given_up(const ExecutorReport& report, const std::vector<Shard>& shards,
                                  const std::string& what);

/// Error(kUnavailable) on a machine that was not wanted: its fingerprint is `here`.
void require_wanted(const std::string& wanted, const std::string& here,
                    const std::string& microarch);

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string name() const = 0;
  /// Works on all shards, in any order. Error(kUnavailable) when there is nowhere to do so.
  virtual ExecutorReport run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) = 0;
};

/// One after the other in this process. What the work throws is thrown; an interrupt leaves it in
/// the middle (done_within), where it looks.
class LocalExecutor : public Executor {
 public:
  explicit LocalExecutor(ShardWork work) : work_(std::move(work)) {}
  std::string name() const override { return "local"; }
  ExecutorReport run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) override;

 private:
  ShardWork work_;
};

}  // namespace exotune
