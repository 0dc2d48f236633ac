#pragma once
// The emitted C of a proc, compiled for its target and run on this machine at small sizes against
// the interpreter: parallel loops on four threads, memory guarded on both sides.
#include <string>
#include <vector>

#include "cli/quantities.h"
#include "cli/workspace.h"
#include "core/ir/proc.h"
#include "search/compilation.h"

namespace exotune::cli {

struct CompiledResult {
  int run = 0;             // sizes at which the C computed what the interpreter does
  bool parallel = false;   // it has parallel loops
  std::string compiler;    // "gcc 12.2.0 -O3 -mavx2, 4 threads"; "" when none was found
  std::string difference;  // "" or where and how the C does something else
  std::string not_run;     // "" or why there was nothing to run or nothing to run it with
};

/// `how`: as a schedule's record says that its C is compiled. `targets`: whose instructions `p` may
/// call; the first one's compiler and flags. Sizes may name more than `p` takes. Never throws for
/// what the C does or for what is missing here.
CompiledResult compiled_test(Workspace& workspace, const ProcPtr& p,
                             const std::vector<TargetPtr>& targets, const std::vector<Sizes>& sizes,
                             uint64_t seed, const Compilation& how = {});

}  // namespace exotune::cli
