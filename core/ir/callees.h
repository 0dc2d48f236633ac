#pragma once
// What a proc calls, through others too. Procs that each call the one before twice make a program
// of 2^n calls of n procs: whoever looks into callees must do so once for each proc.
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// The procs that `p` calls, directly or not, instructions among them: each once, callees before
/// their callers, else in the order of the calls.
std::vector<ProcPtr> procs_called(const Proc& p);

}  // namespace exotune
