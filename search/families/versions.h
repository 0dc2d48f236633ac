#pragma once
// A schedule in versions: one script for some sizes, another for the rest. Start at parse_versions.
//
//   # when n < 16
//   p = optimize_level_1(p, 'i', 16, AVX512, instrs, interleave=1)
//   # otherwise
//   p = optimize_level_1(p, 'i', 16, AVX512, instrs, interleave=4)
//
// The condition compares one of the kernel's sizes with a number (a product of numbers), which
// means the same in the object language and in C; nothing else is one. The kernel asserts it, and
// who calls it takes the first version whose condition holds.
#include <string>
#include <vector>

#include "hw/size_formula.h"

namespace exotune::families {

struct Version {
  std::string when;  // "" for the last
  std::string script;
};

/// At least one version, the last without a condition. A text without headings is one version.
/// InputError, naming `member`, for what is no condition, text in front of the first heading,
/// versions after the last or no last one.
std::vector<Version> parse_versions(const std::string& text, const std::string& member);

/// Does the condition hold at these sizes? "" holds at any; one that names a size they do not have
/// does not.
bool holds(const std::string& when, const SizeBinding& sizes);

/// Of `versions` the first whose condition holds at the sizes; null for none.
const Version* version_for(const std::vector<Version>& versions, const SizeBinding& sizes);

/// The text that parses back.
std::string print_versions(const std::vector<Version>& versions);

}  // namespace exotune::families
