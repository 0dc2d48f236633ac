#pragma once
// Steps: a schedule as data. Start at Schedule; apply() is the only way one grows.
//
// A step is an operator of the library and the values it is called with. Nothing here is text until
// lines_of prints it, except that places are kept as patterns: a schedule then also runs on a
// procedure that is equal up to its symbols (a nest that was extracted again). Exo 2 section 4.
//
//   Schedule s{kernel, {}, false};
//   if (auto refusal = apply(s, "divide_loop", {Value(loop), 8, names, "cut"})) ...
//   lines_of(s.steps)   // {"p = divide_loop(p, 'for i in _: _', 8, ['io', 'ii'], 'cut')"}
#include <optional>
#include <string>
#include <vector>

#include "core/cursor/value.h"
#include "core/library/script.h"

namespace exotune {

struct ScheduleStep {
  std::string op;  // "" for lines of a script, which then are `args`
  ValueList args;  // after the procedure
  std::vector<ScheduleStep>
      inside;  // extract_subproc: what is done to the part before it takes its place
};
using Steps = std::vector<ScheduleStep>;

/// A procedure and the steps that made it. The procedure keeps its provenance, so that cursors of
/// earlier forms find their way.
struct Schedule {
  ProcPtr proc;
  Steps steps;
  bool reassociated = false;  // some step reordered floating-point sums
};

/// Why a step was not taken, for reports: by operator, with the place and the core's words.
struct StepRefusal {
  std::string op, place, reason;
  std::string text() const;  // "reorder_loops at for i in _: _: ..."
};

/// Calls the operator with the schedule's procedure in front of `args`; of a tuple the first
/// counts. Cursors among the arguments may be of any earlier form. A refusal leaves the schedule as
/// it was; so does an internal error of an operator (internal_error.h).
[[nodiscard]] std::optional<StepRefusal> apply(Schedule& s, const std::string& op, ValueList args);

/// Lines of a script ("p = ..."), from writers that still speak text.
[[nodiscard]] std::optional<StepRefusal> apply_lines(Schedule& s,
                                                     const std::vector<std::string>& lines,
                                                     const ScriptEnvironment& names);

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

/// The same steps again, on an equal procedure; what `names` holds is for lines of text. Stops at
/// the first refusal.
[[nodiscard]] std::optional<StepRefusal> replay(Schedule& s, const Steps& steps,
                                                const ScriptEnvironment& names);

/// The steps as lines of a script in which the procedure is called `variable`.
std::vector<std::string> lines_of(const Steps& steps, const std::string& variable = "p");

}  // namespace exotune
