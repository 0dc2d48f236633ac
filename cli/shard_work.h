#pragma once
// What this command answers as a worker, by the kind of shard.
#include "cli/workspace.h"
#include "db/store.h"
#include "executors/executor.h"
#include "executors/shared_folder.h"

namespace exotune::cli {

/// Borrows all. `store`: what kernels of families were measured before, and are as they go on; null
/// for none. `folder`: where answers are that a shard comes after; null where there is none.
/// InputError for a kind that nobody here answers.
ShardWork shard_work(Workspace& workspace, const SharedFolder* folder = nullptr,
                     Store* store = nullptr);

}  // namespace exotune::cli
