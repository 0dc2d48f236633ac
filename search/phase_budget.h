#pragma once
// How the time of one run is shared out to its phases. Start at PhaseBudget.
//
// The whole is a deadline for everything: each phase works against a deadline of its own, made from
// what is left when it starts, so that time a phase does not need is its successors'.
#include "core/base/deadline.h"

namespace exotune {

/// Shares of the whole budget; chosen so that what is kept back is enough for the finals of a small
/// kernel on a loaded machine, and measuring always gets most of the rest.
struct BudgetShares {
  double reference = 0.6;     // what must come out: where that takes longer nothing is measured
  double written = 0.2;       // the nest as written, before all else: a run never ends with nothing
  double written_far = 0.04;  // likewise, where it is known to step from line to line
  double search = 0.4;        // of what is left then: proposing schedules, at most
  double plan = 0.3;          // of that, at most: the dynamic program
  double plan_most = 30;     // seconds: products that it plans well take it a few; others never end
  double finals = 0.25;      // kept back from measuring: other sizes, shoot-out, finals over sizes
  double finals_most = 60;   // seconds: more is never kept back
  double other_sizes = 0.3;  // of what the finals have: correctness at other sizes
  double shootout = 0.6;     // of what is left then, while finals over sizes are to follow
};

/// Seconds of a run of `seconds` until its files are written: what comes then is part of it.
double until_written(double seconds);

class PhaseBudget {
 public:
  PhaseBudget() = default;  // no limit
  PhaseBudget(const Deadline& whole, double seconds, const BudgetShares& shares = {});

  const Deadline& whole() const { return whole_; }
  /// Finding what must come out.
  Deadline reference() const;
  /// Measuring the nest as written; `far`: what must come out was found in a better order of its
  /// loops, so that a call may take as long as all schedules.
  Deadline written(bool far) const;
  /// Proposing schedules; when nothing is measured it has nearly all there is.
  Deadline search(bool measures) const;
  /// The dynamic program, within `search`.
  Deadline plan(const Deadline& search) const;
  Deadline measuring() const;
  /// Correctness at other sizes.
  Deadline other_sizes() const;
  /// The shoot-out; `more` when finals over other sizes follow.
  Deadline shootout(bool more) const;

 private:
  Deadline whole_;
  double seconds_ = 1e9;
  BudgetShares shares_;
};

}  // namespace exotune
