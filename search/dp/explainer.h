#pragma once
// A plan as a tree for people. Start at explained.
#include <string>

#include "search/dp/session.h"

namespace exotune {

/// One line a node: its cycles by the cost model, the action, and under it what the best of each
/// other kind of action would have cost there, from the memo alone. `plans`: how many alternatives
/// the session was asked for.
std::string explained(DpSession& session, const LiftedNest& nest, int plans, const PlanNode& plan);

}  // namespace exotune
