#pragma once
// Tuning on a machine that is not this one: a simulator, a board. What it reports is a count of
// cycles (or instructions) that repeats, so that nothing is timed side by side: every candidate is
// checked and measured once, and the fewest cycles win. Start at tune_on.
#include <string>
#include <vector>

#include "search/tuner.h"

namespace exotune {

/// A finished schedule that is a candidate beside the nest as written.
struct KnownSchedule {
  std::string name;  // for messages: the file it is from
  std::string text;  // .sched
};

/// The kernel at `request.sizes` (all of them given), its nest as written first; then from each of
/// `request.starts`, which are for these sizes. A known schedule that does not fit these sizes is
/// counted as refused. InputError for sizes that are missing.
TuneResult tune_on(Runner& runner, const TuneRequest& request,
                   const std::vector<KnownSchedule>& known, Store& store,
                   const TuneHooks& hooks = {});

/// What `cycles` are of the target's text, for the widest precision of the kernel's data that it
/// gives a figure for; 0: it gives none, or the operations are not known.
double share_of_peak(const KernelEntry& entry, const Proc& kernel, const SizeBinding& sizes,
                     const Target& target, double cycles);

}  // namespace exotune
