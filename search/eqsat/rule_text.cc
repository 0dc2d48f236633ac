#include "search/eqsat/rule_text.h"

#include <cctype>
#include <memory>
#include <optional>

#include "core/base/diagnostic.h"
#include "search/eqsat/expression.h"
#include "search/eqsat/text_reader.h"

namespace exotune::eqsat {
// Rules as text. The right side may compute parameters; a rule whose right side has another type
// than its root is not applied there.
namespace {

// A right side: operators whose parameters are expressions.
struct Made {
  int variable = -1;  // a class of the match
  std::string name;   // otherwise an operator
  std::vector<Expression> params;
  std::vector<Made> children;
};

Id make(EGraph& graph, const AccessTypes& types, const Made& made, Bindings bindings) {
  if (made.variable >= 0) return bindings[static_cast<size_t>(made.variable)];
  std::vector<Id> children;
  for (const Made& child : made.children) {
    const Id id = make(graph, types, child, bindings);
    if (id == kNoId) return kNoId;
    children.push_back(id);
  }
  std::vector<int64_t> params;
  for (const Expression& e : made.params) {
    const Value value = e.value({graph, types, bindings});
    if (!value) return kNoId;
    params.insert(params.end(), value->begin(), value->end());
  }
  return types.typed_add(graph, types.language().ops().op(made.name, params), children);
}

// The right side of a rule, in the text's own syntax.
class RightParser : TextReader {
 public:
  RightParser(std::string_view text, const Variables& variables,
              const std::map<std::string, int64_t>& constants, SourceLocation where)
      : TextReader(text), variables_(variables), constants_(constants), where_(std::move(where)) {}

  Made parse() {
    Made made = term(0);
    skip_spaces();
    if (at_ < text_.size()) refuse("nothing more is expected after the right side");
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { throw InputError(where_, message); }
  std::string word() {
    const std::string_view found = run_of(
        [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '?'; });
    if (found.empty()) refuse("an operator or a variable is expected here");
    return std::string(found);
  }

  Made term(int depth) {
    if (depth > 100) refuse("nested too deeply");
    Made made;
    if (!take('(')) {
      const std::string name = word();
      made.variable = variables_.find(name);
      if (made.variable < 0) refuse("the left side does not bind " + name);
      if (!variables_.is_class(made.variable))
        refuse(name + " stands for an operator, not a class");
      return made;
    }
    made.name = word();
    if (take('['))
      while (!take(']')) {
        if (!made.params.empty() && !take(',')) refuse("`,` or `]` is expected here");
        made.params.push_back(Expression::parse(text_, at_, variables_, constants_, where_));
      }
    while (!take(')')) {
      if (at_ >= text_.size()) refuse("`)` is missing");
      made.children.push_back(term(depth + 1));
    }
    return made;
  }

  const Variables& variables_;
  const std::map<std::string, int64_t>& constants_;
  SourceLocation where_;
};

struct RuleLines {
  std::string name, body, conditions;
  int line = 0;
};

std::string without_comment(std::string_view line) {
  return std::string(line.substr(0, line.find('#')));
}

// Names, bodies and conditions; a rule goes on until the next `rule` line.
std::vector<RuleLines> split(std::string_view text,
                             const std::shared_ptr<const std::string>& file) {
  std::vector<RuleLines> rules;
  int number = 0;
  bool in_conditions = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string line = without_comment(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    std::string content = line.substr(begin);
    if (content.starts_with("rule ")) {
      const size_t last = content.find_last_not_of(" \t\r");
      rules.push_back({content.substr(5, last - 4), "", "", number});
      in_conditions = false;
      continue;
    }
    if (rules.empty()) throw InputError({file, number, 1}, "a rule begins with `rule NAME`");
    if (content.starts_with("if ")) {
      in_conditions = true;
      content = content.substr(3);
    }
    (in_conditions ? rules.back().conditions : rules.back().body) += " " + content;
  }
  return rules;
}

// Everything that can be wrong with a rule is found when it is read: unbound variables, arity,
// parameters of classes.
Rule rule_of(const RuleLines& text, const std::shared_ptr<const std::string>& file,
             const AccessTypes& types, const std::map<std::string, int64_t>& constants) {
  const SourceLocation where{file, text.line, 1};
  const size_t arrow = text.body.find("=>");
  if (arrow == std::string::npos) throw InputError(where, "rule '" + text.name + "' has no `=>`");
  Rule rule = Rule::parse_left(text.name, text.body.substr(0, arrow), types.language().ops());
  const auto right = std::make_shared<const Made>(
      RightParser(text.body.substr(arrow + 2), rule.variables, constants, where).parse());
  // The left side's root, for its type: a variable of every rule.
  const Var root = rule.left[0].root >= 0 ? rule.left[0].root : rule.variables.of("?root");
  if (!rule.variables.stands_for_class(root))
    throw InputError(where, "rule '" + text.name + "': ?root is the class of the whole left side");
  rule.left[0].root = root;
  const AccessTypes* const t = &types;
  rule.compute = [t, right, root](EGraph& graph, Bindings bindings) {
    const Id made = make(graph, *t, *right, bindings);
    if (made == kNoId) return kNoId;
    return t->of(graph, made) == t->of(graph, bindings[static_cast<size_t>(root)]) ? made : kNoId;
  };
  if (!text.conditions.empty()) {
    size_t at = 0;
    const Expression condition =
        Expression::parse(text.conditions, at, rule.variables, constants, where);
    if (text.conditions.find_first_not_of(" \t\r", at) != std::string::npos)
      throw InputError(where, "rule '" + text.name + "': the condition goes on after its end");
    rule.conditions.push_back([t, condition](const EGraph& graph, Bindings bindings) {
      return condition.holds({graph, *t, bindings});
    });
  }
  return rule;
}

}  // namespace

std::vector<Rule> parse_rules(std::string_view text, const std::string& file,
                              const AccessTypes& types,
                              const std::map<std::string, int64_t>& constants) {
  const auto name = std::make_shared<const std::string>(file);
  std::vector<Rule> rules;
  for (const RuleLines& rule : split(text, name))
    rules.push_back(rule_of(rule, name, types, constants));
  return rules;
}

}  // namespace exotune::eqsat
