#pragma once
// Which runner a target's candidates go to: its own kind, or what --runner says. Start at
// choose_runner.
#include <memory>
#include <string>

#include "cli/table.h"
#include "hw/target.h"
#include "runners/runner.h"

namespace exotune::cli {

/// Null for this machine itself ("native"). `wanted`: "" for the target's own kind, "native",
/// "sim", the name of a record in `records` (a folder) or a file NAME.toml. Error(kUnavailable) for
/// a name that is none of them and for a runner that cannot work here; InputError for a record that
/// is wrong, or a target that the runner cannot do.
std::unique_ptr<Runner> choose_runner(const Target& target, const std::string& wanted,
                                      const std::filesystem::path& records, int jobs);

/// What the cycles of a candidate's last good run on `runner` went into; empty where it cannot
/// tell.
std::vector<std::pair<std::string, double>> spent_on(const Runner& runner,
                                                     const std::string& candidate_id);

/// The kinds there are, and the records in `records`.
Table runner_table(const std::filesystem::path& records);

}  // namespace exotune::cli
