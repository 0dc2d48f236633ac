#pragma once
// Names that the headers of generated C take, in every mode of gcc and clang: <math.h>,
// <stdbool.h>, <stddef.h>, <stdint.h>, <stdio.h>, <stdlib.h>, <string.h>. A test preprocesses them
// and compares.
#include <string>

namespace exotune::codegen {

/// A macro or a global variable: no name of generated code may be it.
bool is_macro_of_library(const std::string& name);
/// A function or a type: no function of generated code may be it; a local name may hide it.
bool is_declared_by_library(const std::string& name);

}  // namespace exotune::codegen
