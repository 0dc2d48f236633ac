#pragma once
// packed_caller: kernels whose operands are packed ahead of all calls (core/library/ahead.h) take
// other arguments than the proc they were made from; this writes the function in between. Start at
// packed_caller.
#include <string>

#include "core/codegen/codegen.h"
#include "core/library/ahead.h"
#include "search/problem.h"

namespace exotune {

/// C of a function `name` with the arguments of the unscheduled proc, to be compiled behind
/// `file.c`: it packs each operand when it first sees its address, keeps the copy, and calls the
/// kernel. What a program does that calls a kernel many times with the same weights, so a candidate
/// is checked and timed like that; the copies (64 addresses at most, else it aborts) are never
/// freed and never renewed, so it is for runners and not for programs.
std::string packed_caller(const CFile& file, const std::string& name, const AheadParts& parts,
                          const TuningProblem& problem);

}  // namespace exotune
