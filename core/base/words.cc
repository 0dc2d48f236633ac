#include "core/base/words.h"

namespace exotune {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string quoted(std::string_view word) { return "`" + std::string(word) + "`"; }

}  // namespace exotune
