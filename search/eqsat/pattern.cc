#include "search/eqsat/pattern.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

#include "core/base/diagnostic.h"
#include "search/eqsat/text_reader.h"

namespace exotune::eqsat {

Var Variables::of(const std::string& name) {
  if (const int known = find(name); known >= 0) return known;
  names_.push_back(name);
  kinds_.push_back(Kind::kOpen);
  return static_cast<Var>(names_.size()) - 1;
}

int Variables::find(const std::string& name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  return it == names_.end() ? -1 : static_cast<int>(it - names_.begin());
}

namespace {

constexpr int kDeepest = 200;  // of parentheses; text nested deeper is refused, not followed

// S-expressions with parameters in brackets. Errors carry the column: rules are text that people
// write.
class PatternParser : TextReader {
 public:
  PatternParser(std::string_view text, OpTable& ops, Variables& variables, const std::string& where)
      : TextReader(text), ops_(ops), variables_(variables), where_(where) {}

  Pattern parse() {
    term(0);
    skip_spaces();
    if (at_ < text_.size()) refuse("nothing more is expected after the pattern");
    return std::move(pattern_);
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const {
    throw InputError({std::make_shared<const std::string>(where_), 1, static_cast<int>(at_) + 1},
                     message);
  }

  std::string_view word() {
    const std::string_view found = run_of([](char c) {
      return !std::isspace(static_cast<unsigned char>(c)) &&
             std::string_view("()[],").find(c) == std::string_view::npos;
    });
    if (found.empty()) refuse("a name, a number or a variable is expected here");
    return found;
  }

  static bool to_integer(std::string_view word, int64_t& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  }

  // name, name[1,0] or name[?p]
  Pattern::Node head() {
    const std::string name(word());
    Pattern::Node node;
    if (name[0] == '?') refuse("a variable takes no arguments");
    int64_t value = 0;
    if (to_integer(name, value)) {
      node.kind = Pattern::Kind::kOperator;
      node.op = ops_.op("num", {value});
      return node;
    }
    std::vector<int64_t> params;
    if (at_ < text_.size() && text_[at_] == '[') {
      ++at_;
      while (!take(']')) {
        if (!params.empty() && !take(',')) refuse("`,` or `]` is expected here");
        const std::string_view item = word();
        if (item[0] == '?' && params.empty()) {
          if (!take(']')) refuse("`]` is expected after the variable");
          node.kind = Pattern::Kind::kFamily;
          node.family = ops_.family(name);
          node.variable = variables_.of(std::string(item));
          if (!variables_.stands_for_operator(node.variable))
            refuse(std::string(item) + " stands for a class elsewhere");
          return node;
        }
        if (!to_integer(item, value)) refuse("an integer is expected here");
        params.push_back(value);
      }
    }
    node.kind = Pattern::Kind::kOperator;
    node.op = ops_.op(name, params);
    return node;
  }

  // Children are pushed before their parents, so a pattern is read forwards when it is compiled and
  // instantiated.
  int push(Pattern::Node node) {
    pattern_.nodes.push_back(std::move(node));
    return static_cast<int>(pattern_.nodes.size()) - 1;
  }

  int term(int depth) {
    if (depth > kDeepest) refuse("nested too deeply");
    if (take('(')) {
      Pattern::Node node = head();
      while (!take(')')) {
        if (at_ >= text_.size()) refuse("`)` is missing");
        if (node.arity == kMaxChildren)
          refuse("an operator takes at most " + std::to_string(kMaxChildren) + " arguments");
        const int child = term(depth + 1);
        node.places[node.arity++] = child;
      }
      return push(std::move(node));
    }
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '?') {
      Pattern::Node node;
      node.variable = variables_.of(std::string(word()));
      if (!variables_.stands_for_class(node.variable))
        refuse(variables_.name(node.variable) + " stands for an operator elsewhere");
      return push(std::move(node));
    }
    return push(head());
  }

  OpTable& ops_;
  Variables& variables_;
  std::string where_;
  Pattern pattern_;
};

}  // namespace

Pattern Pattern::parse(std::string_view text, OpTable& ops, Variables& variables,
                       const std::string& where) {
  return PatternParser(text, ops, variables, where).parse();
}

std::string Pattern::str(const OpTable& ops, const Variables& variables) const {
  std::vector<std::string> texts;
  for (const Node& node : nodes) {
    std::string text;
    switch (node.kind) {
      case Kind::kVariable:
        text = variables.name(node.variable);
        break;
      case Kind::kOperator:
        text = ops.str(node.op);
        break;
      case Kind::kFamily:
        text = ops.name(node.family) + '[' + variables.name(node.variable) + ']';
        break;
    }
    if (!node.children().empty()) {
      text = '(' + text;
      for (const int child : node.children()) text += ' ' + texts[static_cast<size_t>(child)];
      text += ')';
    }
    texts.push_back(std::move(text));
  }
  return texts.back();
}

Id Pattern::instantiate(EGraph& graph, Bindings bindings) const {
  return Maker(*this).make(graph, bindings);
}

}  // namespace exotune::eqsat
