#pragma once
// What this command answers as a worker, by the kind of shard.
#include "cli/workspace.h"
#include "executors/executor.h"

namespace exotune::cli {

/// Borrows the workspace. InputError for a kind that nobody here answers.
ShardWork shard_work(Workspace& workspace);

}  // namespace exotune::cli
