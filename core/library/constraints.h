#pragma once
// Constraints: what a user lets a search do. A script states them before its `search` line, or as
// arguments of it; they hold from there to the end and are checked on the result, whoever found it.
//
//   p = avoid(p, mm512_fmadd_bcast_ps)   no call of it in the result; `instrs` is without it
//   p = use(p, mm512_fmadd_ps)           called in the result; first in `instrs`
//   p = keep_order(p)                    the outermost part of each loop stays outside those of the
//                                        loops inside it
//   p = max_unroll(p, 8)                 no loop of more iterations is unrolled
//   p = tiles(p, 'j', [32, 48])          the loop is blocked by one of these sizes, or not at all
//   p = pin(p, p.find_loop('k'))         the subtree stays as it stands
//
// Start at ScriptConstraint. The evaluator (script.h) collects and checks them.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/library/operators.h"

namespace exotune {

struct ScriptConstraint {
  std::string kind;         // the operator's name
  std::vector<Value> args;  // bound; without the procedure
  ProcPtr proc;             // as it stood at the line
  SourceLocation where;
};

/// Told by the operators' rows; the names are sorted.
bool is_constraint(const std::string& op);
std::vector<std::string> constraint_names();

/// One constraint from a call's arguments. InputError for arguments that do not fit, and for one
/// that contradicts `earlier` (use and avoid of one instruction).
ScriptConstraint make_constraint(const std::string& op, const ProcPtr& p,
                                 const std::vector<Value>& positional,
                                 const std::vector<std::pair<std::string, Value>>& keyword,
                                 const SourceLocation& where,
                                 const std::vector<ScriptConstraint>& earlier);

/// `instrs` as the constraints leave it: without what is to be avoided, what is to be used first.
ValueList allowed_instructions(const ValueList& instrs,
                               const std::vector<ScriptConstraint>& constraints);

/// Sizes that the loop may be blocked by; nothing when no constraint says.
std::optional<std::vector<int64_t>> allowed_tiles(const std::string& loop,
                                                  const std::vector<ScriptConstraint>& constraints);

/// Why a call of an operator breaks a tile set; "" when it does not.
std::string broken_by_call(const std::string& op, const std::vector<Value>& positional,
                           const std::vector<std::pair<std::string, Value>>& keyword,
                           const std::vector<ScriptConstraint>& constraints);

/// Why `result`, which descends from the constraint's procedure, breaks it; "" when it does not.
/// While a search is under way `use` is not yet asked for (`finished` false).
std::string broken_by_result(const ScriptConstraint& constraint, const ProcPtr& result,
                             bool finished = true);

/// A text that is equal for subtrees with the same loops, buffers and calls, whatever the loops
/// around them are.
std::string skeleton(const Block& block);

/// The script line that says the same: "p = avoid(p, mm512_fmadd_ps)". Nothing for a pin, whose
/// place only the script can name.
std::optional<std::string> line_of(const ScriptConstraint& constraint);

}  // namespace exotune
