#pragma once
// How rows of the operator table read the values that several of them take: tails and vector units.
#include "core/library/blocking.h"
#include "core/library/operators.h"
#include "core/library/vectorize.h"

namespace exotune {

/// 'perfect', 'cut', 'cut_and_guard', 'predicate', 'cut_and_predicate'; else InputError.
VectorTail vector_tail(const std::string& name);
/// 'cut', 'perfect', 'recursive', 'specialize'; else InputError.
InterleaveTail interleave_tail(const std::string& name);
/// The vector unit of three parameters: lanes, memory, instructions.
VectorUnit vector_unit(const OperatorArgs& args, int lanes, int memory, int instrs);

}  // namespace exotune
