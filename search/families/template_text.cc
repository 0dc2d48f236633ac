#include "search/families/template_text.h"

#include <vector>

namespace exotune::families {
namespace {

// Places within the values of places; a deeper text refers to itself.
constexpr int kMostNesting = 8;

std::string value_of(const std::string& name, const Substitution& values,
                     const SourceLocation& where) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, text] : values) known.push_back(each);
  const std::string near = nearest(name, known);
  throw InputError(where, "nothing is said of ${" + name + "}",
                   near.empty() ? "" : "did you mean ${" + near + "}?");
}

std::string expand_line(const std::string& line, const Substitution& values,
                        const SourceLocation& where, int nesting) {
  if (nesting > kMostNesting) throw InputError(where, "a value contains itself: " + line);
  std::string out;
  size_t done = 0;
  for (size_t at = line.find("${"); at != std::string::npos; at = line.find("${", done)) {
    const size_t end = line.find('}', at);
    if (end == std::string::npos) throw InputError(where, "${ without its }: " + line);
    out += line.substr(done, at - done);
    out += expand_line(value_of(line.substr(at + 2, end - at - 2), values, where), values, where,
                       nesting + 1);
    done = end + 1;
  }
  return out + line.substr(done);
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

}  // namespace

std::string expand(const std::string& text, const Substitution& values,
                   const SourceLocation& where) {
  std::string out;
  SourceLocation here = where;
  for (size_t from = 0; from < text.size();) {
    size_t end = text.find('\n', from);
    const bool last = end == std::string::npos;
    if (last) end = text.size();
    const std::string line = text.substr(from, end - from);
    const std::string filled = expand_line(line, values, here, 0);
    if (is_blank(line) || !is_blank(filled)) out += filled + (last ? "" : "\n");
    from = end + 1;
    ++here.line;
  }
  return out;
}

Substitution with(Substitution values, const Substitution& more) {
  for (const auto& [name, text] : more) values[name] = text;
  return values;
}

}  // namespace exotune::families
