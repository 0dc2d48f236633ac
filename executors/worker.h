#pragma once
// A worker: what runs on a node. It reads requests, works, and leaves answers; it needs the shared
// folder and no database. Start at run_task.
#include "executors/executor.h"
#include "executors/shared_folder.h"

namespace exotune {

struct WorkerReport {
  size_t done = 0, known = 0, failed = 0;
};

/// The shards of one task of a job, one after the other. Those that have an answer already are left
/// alone; the error of one is published as its failure, and the next one is taken. InputError when
/// there is no such job or task; Error(kUnavailable) when the folder is gone.
WorkerReport run_task(const SharedFolder& folder, const std::string& job, size_t task,
                      const ShardWork& work);

}  // namespace exotune
