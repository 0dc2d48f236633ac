#pragma once
// peer_problem: the library call that a kernel's row of the kernel table names, at one problem's
// sizes. Start at peer_problem.
#include <optional>

#include "hw/kernel_table.h"
#include "runners/peers.h"
#include "search/problem.h"

namespace exotune {

/// The library call that does the same at the problem's sizes; nothing when the table names none.
/// Sizes, factors and arguments are found by the names that the row gives them, a number standing
/// for itself. InputError at the row for an operation that no peer has.
std::optional<PeerProblem> peer_problem(const KernelEntry& kernel, const TuningProblem& problem);

}  // namespace exotune
