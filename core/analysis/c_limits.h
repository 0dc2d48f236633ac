#pragma once
// What is proved over all integers and runs on 64 bits of them, and what an instruction's text must
// be: part of `check`.
#include "core/ir/path.h"

namespace exotune {

/// Sizes, indices and configuration are taken to lie below this: no machine has arrays of more.
constexpr int64_t kLargestControlValue = int64_t{1} << 40;

/// Throws InputError when a control expression may leave 64 bits although every control value that
/// comes from outside is below kLargestControlValue, or when the template of an instruction has
/// braces that are no holes, or holes that are no arguments. One walk over the proc.
void check_c_limits(const Proc& p);
/// The same where only the statement at `at` is new.
void check_c_limits(const Proc& p, const Path& at);

}  // namespace exotune
