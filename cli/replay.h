#pragma once
// A script applied to a kernel: what schedule, verify, bench and explain all begin with.
#include <string>
#include <vector>

#include "cli/quantities.h"
#include "cli/workspace.h"
#include "core/library/script.h"

namespace exotune::cli {

struct Replayed {
  ProcPtr proc;                    // the result, checked
  std::vector<TargetPtr> targets;  // whose instructions the script could name
  size_t steps = 0;                // primitives applied, each proved
  bool reassociates = false;       // some reordered floating-point sums
  Sizes fixed;                     // what partial_eval steps fixed
};

/// What a script for `input` can name.
struct ScriptNames {
  ScriptEnvironment environment;
  std::vector<TargetPtr> targets;  // the first one's instructions are `instrs`
};
/// `target`: as for replay.
ScriptNames script_names(Workspace& workspace, const KernelInput& input, const std::string& target);

/// Runs `text` (from `file`, for messages) on `input`. The script sees the instructions of `target`
/// ("": of what the kernel's file imports, else of the best target here), and all of them in order
/// as `instrs`. Throws what the script and its steps throw.
Replayed replay(Workspace& workspace, const KernelInput& input, const std::string& text,
                const std::string& file, const std::string& target);

/// A schedule that was found, run as anybody would run it, makes the procedure that was measured:
/// else an internal error that shows the schedule. Proofs that were made before are known: it takes
/// some milliseconds.
void require_replay(Workspace& workspace, const KernelInput& input, const std::string& found,
                    const std::string& target, const Proc& measured);

}  // namespace exotune::cli
