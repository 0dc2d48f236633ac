#pragma once
// What a script may call on a cursor (`c.body()`), a procedure (`p.find(...)`) or a record
// (`cs.load`), as a table. Used by script.cc and `exo-tune list operators`.
#include <functional>
#include <string>
#include <vector>

#include "core/library/operators.h"

namespace exotune {

/// A method: the first parameter is the object it is called on.
using Method = Operator;

const std::vector<Method>& cursor_methods();
const std::vector<Method>& proc_methods();

/// A record: named values in an order, read as `r.name` and unpacked as a tuple. Operators that
/// return cursors return one.
Value record(const std::vector<std::pair<std::string, Value>>& fields);
ValueList fields_in_order(const Value& record);

/// The attribute `name` of a record, by plain name. InputError naming the nearest one.
const Value& attribute(const Value& record, const std::string& name);

}  // namespace exotune
