#pragma once
// Names by their place in a procedure's canonical text. Start at canonical_names.
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// The names that str(p) gives to the symbols of `p`, in the order in which canonical_text(p)
/// numbers them: in two procedures of one canonical text, names at the same place stand for the
/// same thing.
std::vector<std::string> canonical_names(const Proc& p);

}  // namespace exotune
