#pragma once
// Surroundings: the schedules that stand around good ones, made by the core and put in the order in
// which they are worth measuring. Which there are: neighbours.h.
#include <set>
#include <string>
#include <vector>

#include "search/beam.h"
#include "search/neighbours.h"

namespace exotune {

struct Surroundings {
  std::vector<BeamState> states;  // none twice, the kinds of change in turn
  int made = 0;                   // schedules tried, refused ones too
  std::vector<StepRefusal> refusals;
};

/// Up to `most` schedules one step away from `good`, all of which begin with the steps of `start`:
/// of good ones that do not (the nest as the user wrote it, where the search begins with cheaper
/// arithmetic) there are none. Of each kind of change the cheapest by the static cost first; of
/// prefetching, of whose worth the cost knows nothing, those around the first of `good`. Leaves out
/// the schedules whose text_hash is in `seen`. Made in parallel; the result depends on the
/// arguments alone unless the deadline is over first.
Surroundings surroundings_of(const std::vector<BeamState>& good, size_t most,
                             const BeamState& start, const Neighbourhood& where,
                             const BeamContext& context, const std::set<std::string>& seen,
                             const Deadline& deadline);

}  // namespace exotune
