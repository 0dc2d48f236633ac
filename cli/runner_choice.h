#pragma once
// Which runner a target's candidates go to: its own kind, or what --runner says. Start at
// choose_runner.
#include <memory>
#include <string>

#include "cli/table.h"
#include "hw/target.h"
#include "runners/runner.h"

namespace exotune::cli {

/// Null for this machine itself, whose tuner makes its own. `wanted` as in runner_kind
/// (runners/registry.h): "" for the target's own kind, `records` the folder of records.
/// Error(kUnavailable) for a name that is none of them and for a runner that cannot work here;
/// InputError for a record that is wrong, or a target that the runner cannot do.
std::unique_ptr<Runner> choose_runner(const Target& target, const std::string& wanted,
                                      const std::filesystem::path& records, int jobs);

/// The kinds there are, and the records in `records`.
Table runner_table(const std::filesystem::path& records);

}  // namespace exotune::cli
