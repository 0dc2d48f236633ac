#pragma once
// Shoot-out rounds: every entry once a round, in turn, some rounds in one child process (a block),
// until who is fastest is known. Start at time_rounds.
#include <string>
#include <vector>

#include "runners/shootout_entry.h"

namespace exotune {

constexpr double kTieMedian =
    0.02;  // an equal's median is at most this far, its interval as narrow

struct TimedRounds {
  /// "complete", "timeout", "interrupted"; or "" when an entry broke its block: `finding` says how,
  /// `guilty` who, and nothing else counts.
  std::string ended;
  Finding finding;
  size_t guilty = 0;
  std::vector<int> blocks;                   // rounds of each
  std::vector<std::vector<double>> samples;  // seconds a call, by entry and round; NaN: dropped
};

/// At least `options.rounds` rounds, more while it is undecided who is fastest, none once the time
/// is over. Each block is a child process, so an entry that crashes takes only its block along.
TimedRounds time_rounds(const std::vector<Entry>& entries, const PreparedCase& prepared,
                        const ShootoutOptions& options);

}  // namespace exotune
