#pragma once
// The weights of the cost model for a target on this machine: fitted ones where the database has
// them, else what the target's text says. Start at weights_of.
#include "cost/terms.h"
#include "search/figures.h"

namespace exotune {

/// Under which a target's weights are kept: a change of its text, of the terms, or of what is known
/// of its instructions makes another key, so that stale weights are never read.
FigureKey weights_key(const Target& target, const Machine& machine,
                      const InstructionFigures& instructions);

/// Those of the figures alone, which nothing was fitted to. `store` may be null: the text's.
CostWeights unfitted_weights(const Target& target, const Machine& machine, const Store* store,
                             CostBasis basis = CostBasis::kAll);
/// The fitted ones where the store has them, for this operation (KernelEntry::operation), and the
/// basis is kAll.
CostWeights weights_of(const Target& target, const Machine& machine, const Store* store,
                       const std::string& operation = "", CostBasis basis = CostBasis::kAll);

/// As the dynamic program takes them: what lines cost is what was fitted, else what was measured.
TargetFigures dp_figures(const Target& target, const Machine& machine, const Store* store,
                         const std::string& operation, CostBasis basis = CostBasis::kAll);

/// `weights.machine` says which instruction figures they were fitted with; `worse`: operations that
/// they order worse than unfitted ones do, and are not for.
void keep_weights(const Target& target, const Machine& machine, const CostWeights& weights,
                  const std::vector<std::string>& worse, Store& store);

}  // namespace exotune
