#pragma once
// Schedules that grow step by step. Start at Schedule; apply() is the only way one grows.
//
// Places are kept as patterns: a schedule then also runs on a procedure that is equal up to its
// symbols (a nest that was extracted again).
//
//   Schedule s{kernel, {}, false};
//   if (auto refusal = apply(s, "divide_loop", {Value(loop), 8, names, "cut"})) ...
//   lines_of(s.steps)   // {"p = divide_loop(p, 'for i in _: _', 8, ['io', 'ii'], 'cut')"}
#include <optional>
#include <string>
#include <vector>

#include "core/library/step.h"

namespace exotune {

/// A procedure and the steps that made it. The procedure keeps its provenance, so that cursors of
/// earlier forms find their way.
struct Schedule {
  ProcPtr proc;
  Steps steps;
  bool reassociated = false;  // some step reordered floating-point sums
};

/// Calls the operator with the schedule's procedure in front of `args`; of a tuple the first
/// counts. Cursors among the arguments may be of any earlier form. A refusal leaves the schedule as
/// it was; so does an internal error of an operator.
[[nodiscard]] std::optional<StepRefusal> apply(Schedule& s, const std::string& op, ValueList args);
[[nodiscard]] std::optional<StepRefusal> apply(Schedule& s, ScheduleStep step);

/// A nest taken out as a procedure of its own.
struct Part {
  std::string name;
  std::string place;  // a pattern, in the procedure it was taken from
  ProcPtr proc;
};
/// s  ->  name(...). The step is recorded by put_back, with what became of the part.
[[nodiscard]] std::optional<StepRefusal> take_out(Schedule& s, const Cursor& nest,
                                                  const std::string& name, Part& part);
/// name(...)  ->  the body of `scheduled`, which descends from the part.
[[nodiscard]] std::optional<StepRefusal> put_back(Schedule& s, const Part& part,
                                                  const Schedule& scheduled);

/// The same steps again, on an equal procedure. Stops at the first refusal.
[[nodiscard]] std::optional<StepRefusal> replay(Schedule& s, const Steps& steps);

}  // namespace exotune
