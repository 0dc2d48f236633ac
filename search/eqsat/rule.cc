#include "search/eqsat/rule.h"

#include <set>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return text.substr(text.size());
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// Commas between patterns; those in parentheses and brackets belong to a pattern.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

std::set<Var> variables_in(const Pattern& pattern) {
  std::set<Var> found;
  for (const Pattern::Node& node : pattern.nodes)
    if (node.variable >= 0) found.insert(node.variable);
  return found;
}

}  // namespace

namespace {

// A pattern that is a part of `text`: what is wrong with it stands in a column of the whole.
Pattern part_of(std::string_view text, std::string_view part, OpTable& ops, Variables& variables,
                const std::string& name) {
  try {
    return Pattern::parse(part, ops, variables, name);
  } catch (InputError& e) {
    e.diagnostic().where.column += static_cast<int>(part.data() - text.data());
    throw;
  }
}

}  // namespace

Rule Rule::parse_left(const std::string& name, std::string_view text, OpTable& ops) {
  Rule rule;
  rule.name = name;
  for (std::string_view part : parts_of(text)) {
    Matcher::Rooted rooted;
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.starts_with('?')) {
      rooted.root = rule.variables.of(std::string(trimmed(part.substr(0, equals))));
      if (!rule.variables.stands_for_class(rooted.root))
        throw InputError({}, "rule '" + name + "': " + rule.variables.name(rooted.root) +
                                 " stands for an operator and for a class");
      part = trimmed(part.substr(equals + 1));
    }
    rooted.pattern = part_of(text, part, ops, rule.variables, name);
    rule.left.push_back(std::move(rooted));
  }
  return rule;
}

Rule Rule::parse(const std::string& name, std::string_view text, OpTable& ops) {
  const size_t arrow = text.find("=>");
  if (arrow == std::string_view::npos)
    throw InputError({nullptr, 1, 1}, "rule '" + name + "' has no `=>`",
                     "a rule reads `(f ?x) => (g ?x)`");
  Rule rule = parse_left(name, text.substr(0, arrow), ops);
  const size_t bound = rule.variables.size();
  rule.right = part_of(text, trimmed(text.substr(arrow + 2)), ops, rule.variables, name);
  for (const Var v : variables_in(rule.right))
    if (static_cast<size_t>(v) >= bound)
      throw InputError({nullptr, 1, 1}, "rule '" + name + "': the left side does not bind " +
                                            rule.variables.name(v));
  return rule;
}

std::string Rule::str(const OpTable& ops) const {
  std::string text;
  for (const Matcher::Rooted& rooted : left) {
    if (!text.empty()) text += ", ";
    if (rooted.root >= 0) text += variables.name(rooted.root) + " = ";
    text += rooted.pattern.str(ops, variables);
  }
  return text + " => " + (right.nodes.empty() ? "(computed)" : right.str(ops, variables));
}

}  // namespace exotune::eqsat
