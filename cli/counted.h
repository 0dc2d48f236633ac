#pragma once
// A schedule on a runner that counts (a simulator, a board): what `bench` prints for targets that
// are not this machine. Counts repeat, so one run is a measurement.
#include "cli/table.h"
#include "cli/workspace.h"
#include "runners/runner.h"
#include "search/problem.h"

namespace exotune::cli {

/// The test of a kernel for such a runner: what must come out may be computed by this machine.
TuningProblem counted_problem(const KernelInput& input, const SizeBinding& sizes,
                              const Target& target);

/// What to look at when a schedule's code did that on such a runner.
std::string hint_for(TrialStatus status);

/// Runs it once, for at most `seconds`, and adds a row: the count, its kind, the share of the
/// target's peak. The result says what was wrong.
TrialResult add_counted(Runner& runner, const Candidate& candidate, const KernelEntry& entry,
                        const TuningProblem& problem, const Target& target, double seconds,
                        Table& table);
Table counted_table();

}  // namespace exotune::cli
