#include "search/dp/relaxed_floor.h"

#include "search/dp/solver_team.h"

namespace exotune {
// The same problem without layouts, solved exactly: every operand lies as serves best. Its optimum
// is below that of the real problem, since each real plan is also one here and costs no less, and
// its table is small: layouts are most of what multiplies Specs.

DpRules RelaxedFloor::relaxed(DpRules rules) {
  rules.relaxed = true;
  // A copy within a level then only changes the width of registers.
  if (rules.relayout != Relayout::kNever) rules.relayout = Relayout::kAlways;
  return rules;
}

// Only the optimum's cost is asked for, so this solver keeps one plan, prunes nothing by a floor of
// its own (there is none to start from), and shares its memo between threads.
namespace {

SolverOptions one_plan(std::function<bool()> interrupted) {
  SolverOptions options;
  options.relaxed_floor = false;
  options.prune = false;
  options.interrupted = std::move(interrupted);
  return options;
}

}  // namespace

RelaxedFloor::RelaxedFloor(ActionSpace& space, std::function<bool()> interrupted,
                           SharedWork* shared)
    : space_(space.machine(), relaxed(space.rules()), space.kinds(), space.layouts()),
      own_(shared ? nullptr : std::make_unique<BoxMemo>()),
      memo_(shared ? shared->relaxed : *own_),
      solver_(space_, memo_, one_plan(std::move(interrupted))) {
  if (shared) solver_.avoid(&shared->relaxed_busy);
}

Spec RelaxedFloor::relaxed(Spec spec) const {
  spec.relayouted = 0;
  for (OperandState& o : spec.operands)
    if (o.layout != LayoutPool::kEmpty) o.layout = LayoutPool::kAny;
  return spec;
}

std::optional<int64_t> RelaxedFloor::of(const Spec& spec, const Limits& limits) {
  return solver_.cost(relaxed(spec), limits);
}

}  // namespace exotune
