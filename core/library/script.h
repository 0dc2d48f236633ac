#pragma once
// Running a schedule script (`FILE.sched`): straight-line calls of the operators in operators.h.
// Start at run_script.
//
// The result is the last proc bound to `p` (by `p = ...` or as the first of `p, c = ...`). `p` is
// bound from the start when the file holds exactly one proc that is no instruction. A refused step
// throws the operator's error with the script line as its location, and as notes the operator and
// its arguments, the operator's own notes (the counter-example), and the proc as it stood.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/cursor/value.h"
#include "core/frontend/parser.h"
#include "core/frontend/schedule.h"
#include "core/library/constraints.h"

namespace exotune {

/// One call of `search(p, place, ...)` in a script: a hole that the search fills.
struct ScriptHole {
  ProcPtr proc;
  std::optional<Cursor> where;                // the subtree; nothing: the whole proc
  std::map<std::string, Value> options;       // by name, constraints excepted
  std::vector<ScriptConstraint> constraints;  // in force here: the script's, then the call's own
  size_t own_constraints = 0;                 // how many of them are arguments of the call
  SourceLocation location;
};

/// What a script can see and call beyond the operator table.
struct ScriptEnvironment {
  std::map<std::string, Value> names;  // procs, instructions, memories, configs, constants
  ProcPtr start;                       // bound to `p` before the first line; may be null
  /// Fills a hole. Absent: a script with a hole is refused with a hint at `exo-tune complete`.
  std::function<ProcPtr(const ScriptHole&)> search;
  /// In force from the first line on.
  std::vector<ScriptConstraint> constraints;
  /// The result must keep the constraints. False: only the calls must (tile sets).
  bool enforce = true;
  /// Called after each statement that made a new proc (progress, verification of every step).
  std::function<void(const SourceLocation&, const ProcPtr&)> after_step;
  int max_steps = 1'000'000;  // operator calls; a script beyond it is refused
};

/// Everything `file` and the modules in `libraries` (targets) define. Own names win.
ScriptEnvironment script_environment(const Module& file,
                                     const std::vector<const Module*>& libraries = {});

struct ScriptLine {
  SourceLocation where;
  std::string text;
  std::string op;         // the outermost operator called, "" when none
  ProcPtr before, after;  // `p` around the line; equal when it did not change
};

/// What a script came to. `lines` has each line that ran with the procedure before and after it,
/// for those who explain a schedule step by step.
struct ScriptResult {
  ProcPtr proc;                           // never null
  std::map<std::string, Value> bindings;  // every name at the end
  std::vector<ScriptLine> lines;
  std::vector<ScriptConstraint> constraints;  // in force at the end
  /// "file:1:1: warning: ..." for what is allowed and hardly meant: a script that makes procs and
  /// never changes `p`.
  std::vector<std::string> warnings;
};

/// Throws InputError for what is wrong with the script, SchedulingError or InvalidCursorError for a
/// step that was refused, or for a result that breaks a constraint.
ScriptResult run_script(const ScheduleAst& script, const ScriptEnvironment& environment);
ScriptResult run_script(std::string_view text, const std::string& file,
                        const ScriptEnvironment& environment);

}  // namespace exotune
