#include "core/codegen/c_template.h"

#include <cctype>

namespace exotune::codegen {
namespace {

/// The end of the hole that starts at text[at] == '{' (past its '}'), or 0 when it is a plain
/// brace.
size_t hole_end(const std::string& text, size_t at) {
  size_t k = at + 1;
  if (k >= text.size() || !(std::isalpha(static_cast<unsigned char>(text[k])) || text[k] == '_'))
    return 0;
  while (k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_' ||
                             text[k] == '.' || text[k] == '[' || text[k] == ']'))
    ++k;
  return k < text.size() && text[k] == '}' ? k + 1 : 0;
}

bool opens(const std::string& text, size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at > 0 && (text[at - 1] == '(' || text[at - 1] == ',' || text[at - 1] == '[');
}
bool closes(const std::string& text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at < text.size() && (text[at] == ')' || text[at] == ',' || text[at] == ']');
}
/// "(type){n}" is a cast of the hole, not an argument of its own.
bool after_cast(const std::string& text, size_t at) { return at > 0 && text[at - 1] == ')'; }

}  // namespace

std::string expand_template(const std::string& text, const HoleText& fill) {
  std::string out;
  for (size_t k = 0; k < text.size();) {
    const char c = text[k];
    if ((c == '{' || c == '}') && k + 1 < text.size() && text[k + 1] == c) {
      out += c;
      k += 2;
      continue;
    }
    const size_t end = c == '{' ? hole_end(text, k) : 0;
    if (end == 0) {
      out += c;
      ++k;
      continue;
    }
    out += fill(text.substr(k + 1, end - k - 2),
                opens(text, k) && closes(text, end) && !after_cast(text, k));
    k = end;
  }
  return out;
}

std::vector<std::string> holes_of(const std::string& text) {
  std::vector<std::string> holes;
  expand_template(text, [&](const std::string& hole, bool) {
    holes.push_back(hole);
    return std::string();
  });
  return holes;
}

}  // namespace exotune::codegen
