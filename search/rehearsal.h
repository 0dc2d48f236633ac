#pragma once
// Rehearsal: a kernel for any size is searched at the sizes it is measured at. Start at Rehearsal.
//
// Every step is proved some ten times sooner where extents are literal, and the cost model sees the
// same loops. What the search likes there is then made of the kernel itself, step by step, and
// judged again: a step that open sizes do not allow loses that schedule, nothing else.
#include <vector>

#include "search/beam.h"

namespace exotune {

class Rehearsal {
 public:
  /// `start`: the kernel with open sizes; `sizes` names them all. The context must outlive this.
  Rehearsal(const BeamState& start, const SizeBinding& sizes, const BeamContext& context);

  /// The kernel with all sizes fixed; no step of it is part of any schedule.
  const BeamState& start() const { return fixed_; }

  /// Steps found for fixed sizes made of the kernel with open ones, in their order.
  std::vector<Extended> perform(const std::vector<Steps>& lists, const Deadline& deadline) const;

  /// Schedules of the kernel as they are at the fixed sizes; those that do not become any are left
  /// out.
  std::vector<BeamState> rehearsed(const std::vector<BeamState>& performed,
                                   const Deadline& deadline) const;

 private:
  BeamState open_, fixed_;
  const BeamContext& context_;
};

}  // namespace exotune
