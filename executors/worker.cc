#include "executors/worker.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

std::string host_name() {
  // Slurm's name for the node, which sbatch --exclude understands, is not always the host's.
  const char* node = getenv("SLURMD_NODENAME");
  if (node != nullptr && *node != '\0') return node;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

void work_on(const SharedFolder& folder, const std::string& hash, const SubmittedJob& job,
             const ShardWork& work) {
  const auto begin = std::chrono::steady_clock::now();
  ShardAnswer answer = work(folder.request(hash), job.machine);
  ShardResult result;
  result.hash = hash;
  result.machine = std::move(answer.machine);
  result.host = host_name();
  result.output = std::move(answer.output);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  folder.publish(result);
}

}  // namespace

WorkerReport run_task(const SharedFolder& folder, const std::string& job_name, size_t task,
                      const ShardWork& work) {
  const SubmittedJob job = folder.job(job_name);
  if (task >= job.tasks.size())
    throw InputError({}, "job " + job_name + " has no task " + std::to_string(task),
                     "it has " + std::to_string(job.tasks.size()) + ", from 0");
  WorkerReport report;
  for (const std::string& hash : job.tasks[task]) {
    if (folder.answered(job.machine).count(hash) > 0) {
      ++report.known;
      continue;
    }
    ShardFailure failure;
    try {
      work_on(folder, hash, job, work);
      ++report.done;
      continue;
    } catch (const InputError& error) {
      failure.message = error.what();
      failure.lasting = true;
    } catch (const Error& error) {
      failure.message = error.what();
    } catch (const std::exception& error) {
      failure.message = std::string("error: ") + error.what() + "\n";
    }
    folder.require();
    ++report.failed;
    failure.host = host_name();
    folder.publish(failure, hash, job_name);
  }
  return report;
}

}  // namespace exotune
