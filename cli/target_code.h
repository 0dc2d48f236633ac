#pragma once
// How C for targets is generated: their headers, and what the files say of compiler and CPU.
#include <vector>

#include "core/codegen/codegen.h"
#include "hw/target.h"

namespace exotune::cli {

/// Headers of all targets; the first one's compiler flags and CPU, when `procs` use instructions or
/// memories of a target at all (other code compiles and runs anywhere) or `measured` says that the
/// flags are part of what was found.
CodegenOptions code_for(const std::vector<TargetPtr>& targets, const std::vector<ProcPtr>& procs,
                        bool measured);

}  // namespace exotune::cli
