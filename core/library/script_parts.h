#pragma once
// Parts of the evaluator of scripts (script.cc) that need nothing of its state. Start at run_script
// (script.h).
#include "core/library/script.h"

namespace exotune {

/// `a op b` of a script: integers in 64 bits as in Python, texts and lists joined by `+`.
/// InputError at `where` for other values, and for a result that is too large.
Value script_binary(const std::string& op, const Value& a, const Value& b,
                    const SourceLocation& where);

/// The hole that a call of `search` makes: of its keywords those that are constraints hold in it,
/// after those in force; the others are options of the search. InputError for a first argument that
/// is no procedure and for a place that is none.
ScriptHole script_hole(const std::vector<Value>& positional,
                       const std::vector<std::pair<std::string, Value>>& keyword,
                       const std::vector<ScriptConstraint>& in_force, const SourceLocation& where);

}  // namespace exotune
