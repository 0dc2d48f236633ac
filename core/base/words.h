#pragma once
// Lists of words in messages and files. Start at joined.
#include <string>
#include <string_view>
#include <vector>

namespace exotune {

/// "a, b, c"; nothing in front of the first word that is not empty.
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

/// A word of a program inside a message: `x`.
std::string quoted(std::string_view word);

}  // namespace exotune
