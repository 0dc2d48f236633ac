#pragma once
// RelaxedFloor: what a Spec costs at least, by solving it with one difference: every operand lies
// as serves best, wherever it is. That problem is small (no layouts to choose) and its optimum is a
// lower bound that knows of tiles, levels and limits. Start at RelaxedFloor::of.
#include <memory>

#include "search/dp/dp.h"

namespace exotune {

class RelaxedFloor {
 public:
  /// `shared`: the memo of a team.
  RelaxedFloor(ActionSpace& space, std::function<bool()> interrupted, SharedWork* shared = nullptr);

  /// In the machine's units; kNoCost when no plan exists, nothing when interrupted.
  std::optional<int64_t> of(const Spec& spec, const Limits& limits);

  MemoStatistics statistics() const { return memo_.statistics(); }
  SolverStatistics work() const { return solver_.statistics(); }

 private:
  static DpRules relaxed(DpRules rules);
  Spec relaxed(Spec spec) const;

  ActionSpace space_;
  std::unique_ptr<BoxMemo> own_;
  BoxMemo& memo_;
  SpecSolver solver_;
};

}  // namespace exotune
