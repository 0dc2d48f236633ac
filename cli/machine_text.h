#pragma once
// What a search reckons with, as lines for people: the machine's numbers, each with where it comes
// from, and how a run's time is shared out. Start at reckoning_text.
#include <string>
#include <vector>

#include "db/store.h"
#include "search/tuner.h"

namespace exotune::cli {

/// "L2: 1048576 bytes (probed)" of every number of the machine model; measured ones from `store`,
/// which may be null.
std::vector<std::string> model_lines(const Target& target, const Machine& machine,
                                     const Store* store);

/// For -n -v: the machine's numbers, the budgets of the effort, the shares of the phases.
std::string reckoning_text(const TuneRequest& request, const Store* store);

}  // namespace exotune::cli
