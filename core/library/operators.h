#pragma once
// The operator table: every operator a schedule script may call, by Exo 2's name and argument
// order. The script evaluator, `exo-tune list operators`, replayed traces and the search all read
// it. What a row is, and how to add one: core/primitives/operator.h.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/operator.h"
#include "core/primitives/primitives.h"

namespace exotune {

/// Every operator, sorted by name. Built once, never changed: safe to read from many threads.
const std::vector<Operator>& operator_table();
const Operator* find_operator(const std::string& name);  // null: none

/// Binds and calls. InputError (at `where`) for a wrong count, unknown keyword or wrong kind; the
/// operator's own refusals pass through. `defaults`: values for required parameters of these names
/// that are not given (a script has its target's registers and instructions).
Value call_operator(const Operator& op, const std::vector<Value>& positional,
                    const std::vector<std::pair<std::string, Value>>& keyword = {},
                    const SourceLocation& where = {},
                    const std::map<std::string, Value>& defaults = {});
/// By name and positional arguments: what traces and the search use.
Value call_operator(const std::string& name, const std::vector<Value>& args);

// Where the rows come from.
std::vector<Operator> library_operators();  // beside their functions: operator_rows.h
std::vector<Operator> search_operators();   // operators_search.cc
/// Exo 2's forms of operators above, and operators that only Exo 2 has (operators_exo2.cc).
std::vector<Operator> exo2_forms();

}  // namespace exotune
