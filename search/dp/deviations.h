#pragma once
// Deviations: plans that differ from the best one. Start at for_each_deviation.
#include <functional>

#include "search/dp/session.h"

namespace exotune {

/// The k cheapest plans mostly differ in what comes to the same schedule. Another action at one
/// node of the best plan's main path, and the best plan of everything else, are the cheapest ways
/// to do something else: these, cheapest first, made one after the other until `take` says enough.
/// `plans`: how many alternatives the session was asked for. Cost: a look at every action of the
/// main path, and of what is not in the memo nothing.
void for_each_deviation(DpSession& session, int plans, const PlanNode& best,
                        const std::function<bool(const PlanNode&)>& take);

}  // namespace exotune
