#pragma once
// The semi-final: the fastest trials timed again, side by side. Trials are timed minutes apart, and
// those found in the store on other days, while the machine's clock and its other programs change;
// whose neighbours are worth a look, and who goes to the shoot-out, is decided by times of one run.
#include <vector>

#include "runners/arena.h"
#include "search/trials.h"

namespace exotune {

/// Times the `most` fastest of the trials that are ok (not those that took twice as long as the
/// first), in turn in one process, and replaces their medians by those times, scaled together so
/// that their sum stays: they stay comparable with the others'. A trial that fails here keeps its
/// median. Takes `rounds` calls of each and their compilation. How many were timed.
size_t time_side_by_side(std::vector<Trial>& trials, size_t most, int rounds, Arena& arena,
                         const TuningProblem& problem);

}  // namespace exotune
