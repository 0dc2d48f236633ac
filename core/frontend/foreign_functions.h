#pragma once
// Functions that other languages have and this one does not, and what is written here instead.
#include <string>

#include "core/frontend/syntax.h"

namespace exotune {

/// What to write for a call of a function that there is none of, as a hint with the call's own
/// arguments: `fma(x, y, z)` is "write `x * y + z`". "" for a name that no language has.
std::string instead_of_function(const SyntaxExpr& call);

/// `min(...)` and `fmin(...)`, `max(...)` and `fmax(...)`: however a user calls them.
bool is_minimum(const SyntaxExpr& call);
bool is_maximum(const SyntaxExpr& call);

/// `fmax(a, fmax(b, c))` for more than two arguments: `fmax` and `fmin` take two.
std::string nested_pairs(const std::string& function, const SyntaxExpr& call);

}  // namespace exotune
