#pragma once
// Kernels tuned by an executor's machines: each kernel at each size is one shard, a whole search.
// Start at tune_elsewhere.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_shard.h"
#include "cli/executor_option.h"
#include "cli/roofline.h"
#include "search/tuner.h"

namespace exotune::cli {

struct KernelJob {
  TuneRequest request;
  std::string name;    // as a record names the kernel
  bool sized = false;  // a size was asked for
};

/// What was found, proved here again, as if this machine had found it.
struct KernelAnswer {
  TuneResult result;  // without a winner where there was no valid candidate
  std::optional<Roofline> roofline;
  std::string microarch;  // of the machine
};

struct ElsewhereRequest {
  const std::vector<KernelJob>& jobs;
  std::vector<std::string> options;  // of the command line, that each search gets: "--trials=8"
  std::string target;                // as the command line named it
  bool fresh = false;                // answers that are there do not count
  std::function<void(const std::string&)> say;
};

/// One for each job; nothing for those that an interrupt left unanswered. Records are in the store
/// as they come. Error(kUnavailable) when the executor gave some up. `database`: the
/// file of `store`.
std::vector<std::optional<KernelAnswer>> tune_elsewhere(const ElsewhereRequest& request,
                                                        const ExecutorOption& executor,
                                                        const std::string& database, Store& store,
                                                        Workspace& workspace);

/// The answer to one job. InputError for one whose schedule is refused, is for another kernel or
/// for other sizes.
KernelAnswer read_kernel_answer(const CommandAnswer& answer, const KernelJob& job,
                                const std::string& target, Workspace& workspace);

}  // namespace exotune::cli
