#pragma once
// Sums whose results another loop gathers before they are stored: a convolution whose pixels are
// pooled. Start at gathered_apart.
#include <optional>

#include "search/device/instruction_set.h"
#include "search/moves/step.h"

namespace exotune {

/// Where the results of `sum` (a `+=` of `start`) go through a window of loops into one value each,
///   for x: for k: { best = ..; for v: { sum = 0; for ..: sum += ..; best max= f(sum) }; out = best
///   }
/// and an instruction of the device does such a window while it stores: the sums of a tile of that
/// instruction come first, all of them, then what gathers them,
///   sum[..]; for x: for k: { sum[x, k] = 0; for ..: sum[x, k] += .. }; for x: for k: { .. out =
///   best }
/// with the window's loops and those they slide along as one. Every step is proved by the core;
/// nothing where one is refused or no instruction fits.
std::optional<Schedule> gathered_apart(const Schedule& start, const Cursor& sum,
                                       const DeviceInstructions& instructions);

}  // namespace exotune
