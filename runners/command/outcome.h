#pragma once
// From what a run of a benchmark printed to a trial's result.
#include <string>

#include "runners/candidate.h"
#include "runners/command/contract.h"
#include "runners/runner.h"

namespace exotune {

/// Cycles of the runs of `candidate` when all is well; else the status and the cause: what the
/// program found, its trap, or that the output is not whole (with `elsewhere` when that is not "").
TrialResult judge_output(const Candidate& candidate, const ContractOutput& output,
                         const std::string& elsewhere);

}  // namespace exotune
