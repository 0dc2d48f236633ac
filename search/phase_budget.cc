#include "search/phase_budget.h"

#include <algorithm>

namespace exotune {

PhaseBudget::PhaseBudget(const Deadline& whole, double seconds, const BudgetShares& shares)
    : whole_(whole), seconds_(seconds), shares_(shares) {}

double until_written(double seconds) {
  // For writing files and closing the database: a tenth, and no more than a second.
  constexpr double kShare = 0.1, kMost = 1;
  return seconds - std::min(kShare * seconds, kMost);
}

Deadline PhaseBudget::reference() const { return whole_.within(shares_.reference * seconds_); }

Deadline PhaseBudget::written(bool far) const {
  return whole_.within((far ? shares_.written_far : shares_.written) * seconds_);
}

Deadline PhaseBudget::search(bool measures) const {
  constexpr double kAlone = 0.95;  // the rest: the cost of the last step, and the C
  return whole_.within((measures ? shares_.search : kAlone) * whole_.left());
}

Deadline PhaseBudget::plan(const Deadline& search) const {
  return search.within(std::min(shares_.plan * search.left(), shares_.plan_most));
}

Deadline PhaseBudget::measuring() const {
  return whole_.sooner(std::min(shares_.finals * seconds_, shares_.finals_most));
}

Deadline PhaseBudget::other_sizes() const {
  return whole_.within(shares_.other_sizes * whole_.left());
}

Deadline PhaseBudget::shootout(bool more) const {
  return more ? whole_.within(shares_.shootout * whole_.left()) : whole_;
}

}  // namespace exotune
