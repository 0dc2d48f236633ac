#include "executors/executor.h"

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"

namespace exotune {

void refuse_given_up(const ExecutorReport& report, const std::vector<Shard>& shards,
                     const std::string& what) {
  Diagnostic diagnostic;
  diagnostic.message = std::to_string(report.given_up.size()) + " " + what + " were not measured";
  for (const auto& [shard, why] : report.given_up)
    diagnostic.notes.push_back(LazyText(shards[shard].name + ": " + why));
  diagnostic.hint = "what was measured is kept; the same command asks for the rest again";
  throw Error(std::move(diagnostic), ExitCode::kUnavailable);
}

void require_wanted(const std::string& wanted, const std::string& here,
                    const std::string& microarch) {
  if (wanted.empty() || wanted == here) return;
  throw Error(Diagnostic{{},
                         "this machine (" + microarch + ", fingerprint " + here +
                             ") is not the one that was asked for (" + wanted + ")",
                         {},
                         "--machine " + here + " asks for this one, --machine any for all"},
              ExitCode::kUnavailable);
}

void tell_together(const ExecutorHooks& hooks, const std::function<void()>& tell) {
  if (hooks.together)
    hooks.together(tell);
  else
    tell();
}

ExecutorReport LocalExecutor::run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) {
  ExecutorReport report;
  for (size_t k = 0; k < shards.size(); ++k) {
    ShardAnswer answer;
    const auto work = [&] {
      leave_if_over();
      answer = work_(shards[k], "");
    };
    if (!done_within(Deadline().or_when(hooks.interrupted), work)) {
      report.interrupted = true;
      break;
    }
    ShardResult result;
    result.hash = shard_hash(shards[k]);
    result.machine = std::move(answer.machine);
    result.output = std::move(answer.output);
    tell_together(hooks, [&] { hooks.finished(k, result); });
    ++report.done;
  }
  return report;
}

}  // namespace exotune
