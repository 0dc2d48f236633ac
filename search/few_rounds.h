#pragma once
// few_rounds: a nest that does the same over and over (time steps over arrays that stay) is
// searched at few of its rounds, where a call takes a fraction of the time. Start at few_rounds.
#include <optional>

#include "search/tuner.h"

namespace exotune {

/// The sizes of the same nest with fewer rounds: those that only bound outermost loops are reduced
/// to 48 and what the rest by 16 is, so that tiles of rounds end alike; to 16 and the rest at
/// least, where calls are long even so. Nothing where calls at the sizes asked for are short enough
/// to measure many, where sizes are open, where none is of that kind, and where the request goes on
/// from schedules or forms of its own, which may speak of sizes.
std::optional<SizeBinding> few_rounds(const TuneRequest& request);

/// How many times fewer operations these are than at the sizes asked for.
double times_fewer(const TuneRequest& request, const SizeBinding& few);

}  // namespace exotune
