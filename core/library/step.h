#pragma once
// Steps: a schedule as data. Start at ScheduleStep and run_step.
//
// A step is an operator of the table (operators.h) and the values it is called with. Whoever
// searches makes, changes and runs steps; nothing of a step is text until lines_of prints it, and
// only what a user wrote is ever parsed. Exo 2 section 4.
//
//   const ScheduleStep step{"divide_loop", {"i", 8, Value::strings({"io", "i"})}, {},
//                           {{"tail", "cut"}}};
//   const Stepped made = run_step(p, step);   // made.proc, or made.refusal says why not
//   lines_of({step})                          // {"p = divide_loop(p, 'i', 8, ['io', 'i'],
//                                             //                   tail='cut')"}
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cursor/value.h"
#include "core/library/constraints.h"

namespace exotune {

/// `p = op(p, args..., named...)` as data: what searches propose and mutate, and what a line of a
/// .sched file reads as. Nothing is checked until it is applied.
struct ScheduleStep {
  std::string op;
  ValueList args;  // by position, after the procedure
  /// Of extract_subproc(place, name): what is done to the part before it takes its place again.
  std::vector<ScheduleStep> inside = {};
  std::vector<std::pair<std::string, Value>> named = {};  // by name, after those by position
};
using Steps = std::vector<ScheduleStep>;

/// Stands where refusals name the operator when the engine itself failed: a bug of ours, and no
/// reason to lose a run. Reports count it apart and tests refuse it.
inline constexpr char kInternalError[] = "internal error";

/// Why a step was not taken: by operator, with the place and the core's words.
struct StepRefusal {
  std::string op, place, reason;
  std::optional<ScheduleStep> step = {};  // the one that was refused, where there is one
  /// "p = reorder_loops(p, 'i j')\n" and the reason; without a step "reorder_loops at i: ...".
  std::string text() const;
};

/// What became of a procedure: a value, since most of what a search tries is refused.
struct Stepped {
  ProcPtr proc;  // null when refused
  std::optional<StepRefusal> refusal;
};

/// Runs one step on `p`. What the core refuses, what does not fit the operator, and what breaks a
/// constraint (of procedures that `p` descends from) comes back as a refusal; nothing is thrown for
/// it. The procedure keeps its provenance. Cost: the operator's own; values are not copied.
[[nodiscard]] Stepped run_step(const ProcPtr& p, const ScheduleStep& step,
                               const std::vector<ScriptConstraint>& constraints = {});

/// All of them, one after the other; the first that is refused ends it.
[[nodiscard]] Stepped run_steps(ProcPtr p, const Steps& steps,
                                const std::vector<ScriptConstraint>& constraints = {});

/// What the step passes for the operator's parameter of that name, or the parameter's default; null
/// when there is neither. The value lives as long as the step (or the operator table).
const Value* value_of(const ScheduleStep& step, const std::string& parameter);
/// The same step with another value there; the parameter must be one of the operator's.
[[nodiscard]] ScheduleStep with_value(ScheduleStep step, const std::string& parameter, Value value);

/// "p = divide_loop(p, 'i', 8, ['io', 'i'])"; the instructions of a vector unit
/// print as `instrs`. A step with others inside has several lines.
std::string line_of(const ScheduleStep& step, const std::string& variable = "p");

/// The steps as lines of a script in which the procedure is called `variable`. A part that nothing
/// is done to has no line.
std::vector<std::string> lines_of(const Steps& steps, const std::string& variable = "p");

/// A text that is equal for equal steps: what tells schedules apart.
std::string key_of(const Steps& steps);

/// The steps behind `first`, where they begin with the same operators one after the other (for
/// whatever sizes); nothing: they do not.
std::optional<Steps> steps_behind(const Steps& first, const Steps& steps);

}  // namespace exotune
