#include "search/eqsat/rule_text.h"

#include <algorithm>
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

// Text put together of parts of lines, which knows where each of its characters stands.
class PlacedText {
 public:
  void append(const std::string& part, int line, int column) {
    text_ += " ";
    pieces_.push_back({text_.size(), line, column});
    text_ += part;
  }
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  // Of the piece that begins last before it; the rule's own place without any.
  SourceLocation at(size_t offset, SourceLocation rule) const {
    for (const Piece& p : pieces_) {
      if (p.begin > offset) break;
      rule.line = p.line;
      rule.column = p.column + static_cast<int>(offset - p.begin);
    }
    return rule;
  }

 private:
  struct Piece {
    size_t begin;
    int line, column;
  };
  std::string text_;
  std::vector<Piece> pieces_;
};

constexpr const char* kShape =
    "a rule reads `rule NAME`, then `(f ?x) => (g ?x)`, then perhaps `if CONDITION`";

// Runs `read` on a part of the text that begins at `begin`: what it refuses stands in a column of
// that part, and is told where it is in the file.
template <class Read>
auto placed(const PlacedText& text, size_t begin, const SourceLocation& rule, const Read& read) {
  try {
    return read();
  } catch (InputError& e) {
    const SourceLocation& in = e.diagnostic().where;
    e.diagnostic().where =
        text.at(begin + static_cast<size_t>(std::max(in.known() ? in.column : 1, 1) - 1), rule);
    if (e.diagnostic().hint.empty()) e.diagnostic().hint = kShape;
    throw;
  }
}

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
  RightParser(std::string_view text, const AccessLanguage& language, const Variables& variables,
              const std::map<std::string, int64_t>& constants, SourceLocation where)
      : TextReader(text),
        language_(language),
        variables_(variables),
        constants_(constants),
        where_(std::move(where)) {}

  Made parse() {
    Made made = term(0);
    skip_spaces();
    if (at_ < text_.size()) refuse("nothing more is expected after the right side");
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& message, const std::string& hint = "") const {
    throw InputError({where_.file, where_.line, static_cast<int>(at_) + 1}, message, hint);
  }
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
    const auto kind = language_.kind_of(language_.ops().family(made.name));
    if (!kind) refuse("there is no operator called `" + made.name + "`", AccessLanguage::names());
    if (take('['))
      while (!take(']')) {
        if (!made.params.empty() && !take(',')) refuse("`,` or `]` is expected here");
        made.params.push_back(Expression::parse(text_, at_, variables_, constants_, where_));
      }
    while (!take(')')) {
      if (at_ >= text_.size()) refuse("`)` is missing");
      made.children.push_back(term(depth + 1));
    }
    const int arity = AccessLanguage::arity(*kind);
    if (made.children.size() != static_cast<size_t>(arity))
      refuse("`" + made.name + "` takes " + std::to_string(arity) + " arguments");
    return made;
  }

  const AccessLanguage& language_;
  const Variables& variables_;
  const std::map<std::string, int64_t>& constants_;
  SourceLocation where_;
};

struct RuleLines {
  std::string name;
  PlacedText body, conditions;
  SourceLocation where;
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
    size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const SourceLocation where{file, number, static_cast<int>(begin) + 1};
    std::string content = line.substr(begin);
    if (content.starts_with("rule ") || content == "rule") {
      const size_t first = content.find_first_not_of(" \t\r", 4);
      if (first == std::string::npos) throw InputError(where, "the rule has no name", kShape);
      rules.push_back({content.substr(first, content.find_last_not_of(" \t\r") - first + 1),
                       PlacedText(), PlacedText(), where});
      in_conditions = false;
      continue;
    }
    if (rules.empty()) throw InputError(where, "a rule begins with `rule NAME`", kShape);
    if (content.starts_with("if ")) {
      in_conditions = true;
      content = content.substr(3);
      begin += 3;
    }
    (in_conditions ? rules.back().conditions : rules.back().body)
        .append(content, number, static_cast<int>(begin) + 1);
  }
  return rules;
}

// A misspelt operator matches nothing: better said than silently never applied.
void require_operators(const Rule& rule, const PlacedText& text, const AccessLanguage& language) {
  for (const Matcher::Rooted& side : rule.left)
    for (const Pattern::Node& node : side.pattern.nodes) {
      if (node.kind == Pattern::Kind::kVariable) continue;
      const Family family =
          node.kind == Pattern::Kind::kOperator ? family_of(node.op) : node.family;
      const auto kind = language.kind_of(family);
      const std::string& name = language.ops().name(family);
      const int column = static_cast<int>(text.str().find(name)) + 1;
      if (!kind)
        throw InputError({nullptr, 1, column}, "there is no operator called `" + name + "`",
                         AccessLanguage::names());
      const int arity = AccessLanguage::arity(*kind);
      if (node.arity != static_cast<size_t>(arity))
        throw InputError({nullptr, 1, column},
                         "`" + name + "` takes " + std::to_string(arity) + " arguments");
    }
}

// Everything that can be wrong with a rule is found when it is read: unbound variables, arity,
// parameters of classes.
Rule rule_of(const RuleLines& text, const AccessTypes& types,
             const std::map<std::string, int64_t>& constants) {
  const SourceLocation& where = text.where;
  const size_t arrow = text.body.str().find("=>");
  if (arrow == std::string::npos)
    throw InputError(where, "rule '" + text.name + "' has no `=>`", kShape);
  const AccessLanguage& language = types.language();
  Rule rule = placed(text.body, 0, where, [&] {
    Rule left = Rule::parse_left(text.name, text.body.str().substr(0, arrow), language.ops());
    require_operators(left, text.body, language);
    return left;
  });
  const auto right = placed(text.body, arrow + 2, where, [&] {
    return std::make_shared<const Made>(RightParser(text.body.str().substr(arrow + 2), language,
                                                    rule.variables, constants, {nullptr, 1, 1})
                                            .parse());
  });
  // The left side's root, for its type: a variable of every rule.
  const Var root = rule.left[0].root >= 0 ? rule.left[0].root : rule.variables.of("?root");
  if (!rule.variables.stands_for_class(root))
    throw InputError(where, "rule '" + text.name + "': ?root is the class of the whole left side");
  rule.left[0].root = root;
  const AccessTypes* const t = &types;
  rule.compute = [t, right, root, where](EGraph& graph, Bindings bindings) {
    try {
      const Id made = make(graph, *t, *right, bindings);
      if (made == kNoId) return kNoId;
      return t->of(graph, made) == t->of(graph, bindings[static_cast<size_t>(root)]) ? made : kNoId;
    } catch (InputError& e) {  // sizes beyond all numbers
      e.diagnostic().where = where;
      throw;
    }
  };
  if (!text.conditions.empty()) {
    const Expression condition = placed(text.conditions, 0, where, [&] {
      size_t at = 0;
      Expression read =
          Expression::parse(text.conditions.str(), at, rule.variables, constants, {nullptr, 1, 1});
      if (text.conditions.str().find_first_not_of(" \t\r", at) != std::string::npos)
        throw InputError({nullptr, 1, static_cast<int>(at) + 1},
                         "rule '" + text.name + "': the condition goes on after its end");
      return read;
    });
    rule.conditions.push_back([t, condition, where](const EGraph& graph, Bindings bindings) {
      try {
        return condition.holds({graph, *t, bindings});
      } catch (InputError& e) {
        e.diagnostic().where = where;
        throw;
      }
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
  for (const RuleLines& rule : split(text, name)) rules.push_back(rule_of(rule, types, constants));
  return rules;
}

}  // namespace exotune::eqsat
