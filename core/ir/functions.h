#pragma once
// The functions of data that expressions can call: the names, arities and sorts that the parser,
// the checker, the interpreter and code generation share. Start at functions.
#include <string>
#include <vector>

namespace exotune {

struct Function {
  const char* name;
  int arity;
  /// Has a meaning on integer types too (then exact; the others are refused there).
  bool on_integers;
  /// math.h has it under this name (with `f` behind it for f32); else it is written out in C.
  bool in_math_h;
  /// About as many additions take as long as one call of it in scalar C, on any machine.
  int additions;
};

/// In the order in which documentation names them.
const std::vector<Function>& functions();
/// Null when there is no such function.
const Function* find_function(const std::string& name);

}  // namespace exotune
