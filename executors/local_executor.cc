#include "executors/executor.h"

namespace exotune {

ExecutorReport LocalExecutor::run(const std::vector<Shard>& shards, const ExecutorHooks& hooks) {
  ExecutorReport report;
  for (size_t k = 0; k < shards.size(); ++k) {
    if (hooks.interrupted && hooks.interrupted()) {
      report.interrupted = true;
      break;
    }
    ShardAnswer answer = work_(shards[k], "");
    ShardResult result;
    result.hash = shard_hash(shards[k]);
    result.machine = std::move(answer.machine);
    result.output = std::move(answer.output);
    hooks.finished(k, result);
    ++report.done;
  }
  return report;
}

}  // namespace exotune
