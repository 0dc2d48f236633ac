#pragma once
// The weights of the cost model for a target on this machine: fitted ones where the database has
// them, else what the target's text says. Start at weights_of.
#include "cost/terms.h"
#include "db/store.h"
#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

/// Under which a target's weights are kept: a change of its text or of the terms makes another key,
/// so that stale weights are never read.
FigureKey weights_key(const Target& target, const Machine& machine);

/// `store` may be null: the text's weights.
CostWeights weights_of(const Target& target, const Machine& machine, const Store* store);

void keep_weights(const Target& target, const Machine& machine, const CostWeights& weights,
                  Store& store);

}  // namespace exotune
