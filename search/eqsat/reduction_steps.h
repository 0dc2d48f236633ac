#pragma once
// Candidates that do a reduction in several, smaller ones: products of factors in another order,
// windows one direction after the other. Each is a step of the core. For find_candidates.
#include "search/eqsat/lowering.h"

namespace exotune::eqsat {

/// For each sum of three factors or more the cheapest orders, where they multiply less than the
/// sum as written.
void add_orders(const ProcPtr& p, const CandidateRequest& request, CandidateReport& report);

/// For each reduction over windows that are longer than 1 in two directions, the directions one
/// after the other, as the rules in `request.reductions` find it. Whether that saves anything is in
/// the figures: windows that do not overlap share nothing.
void add_steps_of_windows(const ProcPtr& p, const CandidateRequest& request,
                          CandidateReport& report);

}  // namespace exotune::eqsat
