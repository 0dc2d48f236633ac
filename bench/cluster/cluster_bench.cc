// What a coordinator costs: answers a second that it takes from the shared folder into the
// database, with 1, 4 and 16 workers that write them as fast as they can, and where its time goes.
//
//   bench_cluster [RESULTS] [TRIALS] [FOLDER] [TOGETHER]
//
// Default: 2000 results of 22 trials each, in TMPDIR, up to 256 results in one transaction.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "core/base/hashing.h"
#include "db/store.h"
#include "executors/shared_folder.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// As large as what the worker of a family's kernel hands back.
ShardResult result_of(int number, int trials) {
  const std::unique_ptr<Store> store = make_memory_store();
  TrialRecord trial;
  trial.key = {content_hash("kernel " + std::to_string(number)), "n=1000", "avx512",
               content_hash("machine"), "clang 14.0.6 -O3"};
  trial.status = "ok";
  trial.engine_version = "0.1.0";
  trial.created = 1;
  store->put_kernel(trial.key.kernel_hash, "kernel" + std::to_string(number));
  for (int k = 0; k < trials; ++k) {
    trial.candidate_id = content_hash(std::to_string(number) + " " + std::to_string(k));
    trial.script = "p = vectorize(p, 'i', " + std::to_string(k) +
                   ", AVX512, instrs, tail='predicate')\np = cleanup(simplify(p))\n";
    trial.samples.assign(9, 1e-6 * (k + 1));
    store->put_trial(trial);
  }
  std::ostringstream records;
  store->export_json_lines(records);
  return {content_hash("shard " + std::to_string(number)), content_hash("machine"), "n1",
          records.str(), 1};
}

struct Costs {
  double listing = 0, reading = 0, entering = 0;
};

void run(int workers, int results, int trials, size_t together, const fs::path& root) {
  const SharedFolder folder(root / "shared");
  const std::unique_ptr<Store> store = open_store((root / "tune.db").string());
  for (int w = 0; w < workers; ++w)
    if (fork() == 0) {
      for (int k = w; k < results; k += workers) folder.publish(result_of(k, trials));
      _exit(0);
    }
  std::set<std::string> taken;
  Costs costs;
  int64_t entered = 0;
  const Clock::time_point begin = Clock::now();
  while (taken.size() < static_cast<size_t>(results)) {
    Clock::time_point at = Clock::now();
    const std::set<std::string> answered = folder.answered(content_hash("machine"));
    costs.listing += since(at);
    std::vector<std::string> fresh;
    std::set_difference(answered.begin(), answered.end(), taken.begin(), taken.end(),
                        std::back_inserter(fresh));
    // As the coordinator does: what one look at the folder finds, `together` at a time.
    for (size_t first = 0; first < fresh.size(); first += together) {
      const Clock::time_point begin = Clock::now();
      const double reading = costs.reading;
      store->together([&] {
        for (size_t k = first; k < std::min(fresh.size(), first + together); ++k) {
          at = Clock::now();
          const ShardResult result = *folder.result(content_hash("machine"), fresh[k]);
          costs.reading += since(at);
          std::istringstream lines(result.output);
          entered += store->import_json_lines(lines, fresh[k]).trials;
          taken.insert(fresh[k]);
        }
      });
      costs.entering += since(begin) - (costs.reading - reading);
    }
  }
  const double seconds = since(begin);
  while (wait(nullptr) > 0) continue;
  std::printf("%7d %12.0f %12.0f %12.3f %12.3f %12.3f\n", workers, results / seconds,
              static_cast<double>(entered) / seconds, 1e3 * costs.listing / results,
              1e3 * costs.reading / results, 1e3 * costs.entering / results);
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  const int results = argc > 1 ? std::atoi(argv[1]) : 2000;
  const int trials = argc > 2 ? std::atoi(argv[2]) : 22;
  const std::filesystem::path parent =
      argc > 3 ? std::filesystem::path(argv[3]) : std::filesystem::temp_directory_path();
  const size_t together = argc > 4 ? static_cast<size_t>(std::atoi(argv[4])) : 256;
  std::printf("%7s %12s %12s %12s %12s %12s\n", "workers", "results/s", "trials/s", "ms listing",
              "ms reading", "ms entering");
  for (const int workers : {1, 4, 16}) {
    const std::filesystem::path root = parent / ("bench-cluster-" + std::to_string(getpid()));
    exotune::run(workers, results, trials, together, root);
    std::filesystem::remove_all(root);
  }
}
