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

/// What a schedule that was found makes, run as anybody would run it: `measured`, else its own
/// procedure, with a warning on stderr. One that is refused is an internal error that shows the
/// schedule. Proofs that were made before are known: it takes some milliseconds.
ProcPtr replayed(Workspace& workspace, const KernelInput& input, const std::string& found,
                 const std::string& target, const ProcPtr& measured);

}  // namespace exotune::cli
