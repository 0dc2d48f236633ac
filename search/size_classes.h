#pragma once
// Size classes: of a kernel for any size two schedules, each for the sizes it is good at. Start at
// size_classes.
#include <optional>
#include <string>
#include <vector>

#include "core/library/step.h"
#include "search/problem.h"

namespace exotune {

/// Seconds of schedules at sizes; infinite where one is not ok.
struct SizeTable {
  std::vector<SizeBinding> sizes;
  std::vector<std::vector<double>> seconds;  // [schedule][size]
  std::vector<bool> whole;  // schedules that cannot be one of two, only be all; empty: none
};

/// Where `condition` holds the schedule `where`, elsewhere the other.
struct SizeClasses {
  size_t where = 0, elsewhere = 0;
  std::string condition;    // "M >= 724 and N >= 64"
  std::vector<bool> holds;  // at the sizes of the table
  double gain = 1;          // over the best schedule alone, at the sizes where that does not run
};

/// The two schedules and the bounds on sizes that come to the least geometric mean of the times:
/// bounds lie between sizes of the table, as few of them as do. Nothing: one schedule is as good
/// everywhere, up to what the noise of a measurement explains. What is gained counts at the sizes
/// where it is gained: one large size among many small ones is reason enough.
std::optional<SizeClasses> size_classes(const SizeTable& table,
                                        const std::vector<std::string>& names);

/// f: s  ->  if condition: s scheduled by `where` else: s scheduled by `elsewhere`, for an f that
/// is one nest; none for others.
Steps steps_of(const SizeClasses& classes, const Proc& f, const Steps& where,
               const Steps& elsewhere);

}  // namespace exotune
