#pragma once
// The C around the functions of a CProgram: a main program that calls them with arguments from a
// file, and threads for parallel loops.
#include <string>

#include "core/codegen/codegen.h"

namespace exotune::emitted {

// What an argument is in the file of inputs.
constexpr int64_t kControlArgument = 0;  // its value
constexpr int64_t kPointerArgument = 1;  // the number of a block
constexpr int64_t kWindowArgument = 2;   // block, offset in bytes, rank, strides

/// main(): `program INPUTS OUTPUTS`. Writes every call's blocks back, in order. Blocks have guard
/// bytes around them, which must not change, unless they are `exact`.
std::string driver_text(const CFile& file, bool exact);

/// Four new threads for each parallel loop behind the entry points that gcc calls for OpenMP.
std::string own_threads_text();

}  // namespace exotune::emitted
