#pragma once
// The tuner on a machine that is handed to it. Start at tune_with; tune() (tuner.h) is the same on
// this machine.
#include "search/tuning_state.h"

namespace exotune {

/// As tune(), but what measures is the bench, and time is the clock's: a simulator, a machine far
/// away, or a test's invention. The request's effort must not be kEstimate, which measures nothing.
TuneResult tune_with(const Bench& bench, const TuneRequest& request, Store& store,
                     const TuneHooks& hooks = {}, const TimeSource& clock = TimeSource::steady());

}  // namespace exotune
