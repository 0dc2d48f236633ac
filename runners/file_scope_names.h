#pragma once
// The names a C file defines at file scope, found by a scan of its tokens: what must be renamed so
// that many candidates fit into one translation unit.
#include <string>
#include <string_view>
#include <vector>

namespace exotune {

/// Functions with a body, variables, typedefs and tags defined at file scope, in order, each once.
/// Left out: what lies inside an include-guard-like `#ifndef X / #define X` region (it is shared by
/// all files that carry it), except for the guard that spans a whole header, and C++-only parts.
std::vector<std::string> file_scope_names(std::string_view c_text);

/// X of the `#ifndef X / #define X` a header opens with, or "".
std::string header_guard(std::string_view header_text);

}  // namespace exotune
