#include "search/eqsat/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
// Conditions and computed parameters of rules: a small language of integers, lists and permutations
// over what a match binds. Sizes may be symbolic; a comparison that cannot be decided is false, so
// that a rule is not applied where nobody knows.

using Values = std::vector<std::vector<int64_t>>;

struct Expression::Node {
  enum class Kind : uint8_t { kNumber, kVariable, kElement, kCall } kind = Kind::kNumber;
  int64_t number = 0;  // kNumber; kElement: which one
  size_t variable = 0;
  std::string name;  // kCall
  std::vector<std::shared_ptr<const Node>> arguments;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

struct Function {
  const char* name;
  int arguments;
  bool of_class;  // the first argument is a variable that stands for a class
};

// What each computes is said where it is evaluated, and in the chapter on rules for those who
// write them.
constexpr Function kFunctions[] = {
    {"access", 1, true},   {"items", 1, true},       {"rank", 1, true},
    {"members", 1, true},  {"axis", 2, true},        {"compose", 2, false},
    {"inverse", 1, false}, {"moved", 3, false},      {"is_identity", 1, false},
    {"number", 1, false},  {"divides", 2, false},    {"min", 2, false},
    {"first", 2, false},   {"fixed_from", 2, false}, {"missing", 2, false},
    {"place", 2, false},   {"without", 2, false},    {"sorted", 2, false},
    {"ranks", 1, false},
};

const Function* find_function(const std::string& name) {
  for (const Function& f : kFunctions)
    if (name == f.name) return &f;
  return nullptr;
}

}  // namespace

// Recursive descent as for patterns, with a bound on nesting; names are resolved when the rule is
// read, so a rule with a misspelt name is refused before any run.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, size_t& at, const Variables& variables,
                   const std::map<std::string, int64_t>& constants, const SourceLocation& where)
      : text_(text), at_(at), variables_(variables), constants_(constants), where_(where) {}

  Expression parse() {
    NodePtr node = conjunction(0);
    require_parameters(*node);
    return Expression(std::move(node));
  }

 private:
  // Parentheses in parentheses: the reader calls itself for each.
  static constexpr int kDeepest = 100;

  [[noreturn]] void refuse(const std::string& message, const std::string& hint = "") const {
    throw InputError({where_.file, where_.line, static_cast<int>(at_) + 1}, message, hint);
  }
  static std::string functions() {
    std::string text;
    for (const Function& f : kFunctions) text += (text.empty() ? "" : ", ") + std::string(f.name);
    return text;
  }
  std::string constants() const {
    std::string text;
    for (const auto& [name, value] : constants_) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "this command has none" : "those of this command: " + text;
  }

  // Only operators have parameters; what is asked of a class is asked by a function.
  void require_parameters(const Node& node) const {
    const bool variable = node.kind == Node::Kind::kVariable || node.kind == Node::Kind::kElement;
    if (variable && !variables_.is_operator(static_cast<Var>(node.variable)))
      refuse(variables_.name(static_cast<Var>(node.variable)) +
             " stands for a class, which has no parameters");
    const Function* f = node.kind == Node::Kind::kCall ? find_function(node.name) : nullptr;
    for (size_t k = f && f->of_class ? 1 : 0; k < node.arguments.size(); ++k)
      require_parameters(*node.arguments[k]);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  // `and` but not the beginning of `android`.
  bool take_word(std::string_view word) {
    const size_t before = at_;
    if (!take(word)) return false;
    if (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])))) {
      at_ = before;
      return false;
    }
    return true;
  }
  static NodePtr call(std::string name, std::vector<NodePtr> arguments) {
    return std::make_shared<const Node>(
        Node{Node::Kind::kCall, 0, 0, std::move(name), std::move(arguments)});
  }

  NodePtr conjunction(int depth) {
    if (depth > kDeepest) refuse("nested too deeply");
    NodePtr left = comparison(depth);
    while (take_word("and")) left = call("and", {left, comparison(depth)});
    return left;
  }
  NodePtr comparison(int depth) {
    NodePtr left = sum(depth);
    // Two characters before one, or `<=` would be read as `<`.
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
      // `=>` ends a side of a rule and is no comparison.
      if (take(op)) return call(op, {left, sum(depth)});
    }
    return left;
  }
  NodePtr sum(int depth) {
    NodePtr left = product(depth);
    for (;;) {
      if (take("+"))
        left = call("+", {left, product(depth)});
      else if (take("-"))
        left = call("-", {left, product(depth)});
      else
        return left;
    }
  }
  NodePtr product(int depth) {
    NodePtr left = atom(depth);
    while (take("*")) left = call("*", {left, atom(depth)});
    return left;
  }

  std::string word() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || (at_ == begin && text_[at_] == '?')))
      ++at_;
    if (at_ == begin) refuse("an expression is expected here");
    return std::string(text_.substr(begin, at_ - begin));
  }

  NodePtr atom(int depth) {
    if (take("(")) {
      NodePtr inner = conjunction(depth + 1);
      if (!take(")")) refuse("`)` is missing");
      return inner;
    }
    const std::string name = word();
    // Variables are bound by the left side, constants by the file, everything else is a function.
    if (name[0] == '?') return variable(name);
    if (std::isdigit(static_cast<unsigned char>(name[0]))) return number(name);
    if (take("(")) return function(name, depth);
    const auto constant = constants_.find(name);
    if (constant == constants_.end())
      refuse("there is no constant called `" + name + "`", constants());
    return std::make_shared<const Node>(Node{Node::Kind::kNumber, constant->second, 0, {}, {}});
  }

  NodePtr number(const std::string& digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      refuse("`" + digits + "` is no number");
    return std::make_shared<const Node>(Node{Node::Kind::kNumber, value, 0, {}, {}});
  }

  NodePtr variable(const std::string& name) {
    const int index = variables_.find(name);
    if (index < 0) refuse("the left side does not bind " + name);
    Node node{Node::Kind::kVariable, 0, static_cast<size_t>(index), {}, {}};
    // `?p.1`: the second parameter of the operator that ?p stands for.
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      node.kind = Node::Kind::kElement;
      node.number = number(word())->number;
    }
    return std::make_shared<const Node>(std::move(node));
  }

  NodePtr function(const std::string& name, int depth) {
    const Function* f = find_function(name);
    if (!f) refuse("there is no function called `" + name + "`", functions());
    std::vector<NodePtr> arguments;
    while (!take(")")) {
      if (!arguments.empty() && !take(",")) refuse("`,` or `)` is expected here");
      arguments.push_back(conjunction(depth + 1));
    }
    if (arguments.size() != static_cast<size_t>(f->arguments))
      refuse("`" + name + "` takes " + std::to_string(f->arguments) + " arguments");
    if (f->of_class && (arguments[0]->kind != Node::Kind::kVariable ||
                        !variables_.is_class(static_cast<Var>(arguments[0]->variable))))
      refuse("`" + name + "` is asked of a variable that stands for a class");
    return call(name, std::move(arguments));
  }

  std::string_view text_;
  size_t& at_;
  const Variables& variables_;
  const std::map<std::string, int64_t>& constants_;
  const SourceLocation& where_;
};

Expression Expression::parse(std::string_view text, size_t& at, const Variables& variables,
                             const std::map<std::string, int64_t>& constants,
                             const SourceLocation& where) {
  return ExpressionParser(text, at, variables, constants, where).parse();
}

namespace {

Value evaluate(const Node& node, const Match& match);

// Of a class: how many axes, which size.
// `axis(?x, i)`: the extent of axis i, counted over access and item axes together.
Value class_function(const Node& node, const Match& match) {
  const AccessType& type = match.types.of(match.graph, match.bindings[node.arguments[0]->variable]);
  if (node.name == "access") return {{static_cast<int64_t>(type.access.size())}};
  if (node.name == "items") return {{static_cast<int64_t>(type.item.size())}};
  if (node.name == "rank") return {{static_cast<int64_t>(type.rank())}};
  if (node.name == "members") return {{type.tuple}};
  const Value x = evaluate(*node.arguments[1], match);
  // Nothing rather than a wrong axis: the rule is not applied then.
  if (!x || x->size() != 1 || (*x)[0] < 0 || (*x)[0] >= static_cast<int64_t>(type.rank()))
    return std::nullopt;
  return {{type.axis(static_cast<size_t>((*x)[0]))}};
}

Value of_permutations(const Node& node, const Values& v) {
  // Parameters of a rule are any integers: a list that is no permutation gives nothing.
  const auto inside = [](const std::vector<int64_t>& p, size_t n) {
    return std::all_of(p.begin(), p.end(),
                       [n](int64_t i) { return i >= 0 && static_cast<size_t>(i) < n; });
  };
  if (node.name == "is_identity") {
    for (size_t i = 0; i < v[0].size(); ++i)
      if (v[0][i] != static_cast<int64_t>(i)) return {{0}};
    return {{1}};
  }
  std::vector<int64_t> out(v[0].size());
  if (!inside(v[0], v[0].size())) return std::nullopt;
  // out[p[i]] = i.
  if (node.name == "inverse") {
    for (size_t i = 0; i < out.size(); ++i)
      out[static_cast<size_t>(v[0][i])] = static_cast<int64_t>(i);
    return out;
  }
  // compose(p, q): p after q; axis i of the result is axis p[i] of what q made of it.
  if (v[1].size() != v[0].size()) return std::nullopt;
  for (size_t i = 0; i < out.size(); ++i) out[i] = v[1][static_cast<size_t>(v[0][i])];
  return out;
}

// first(p, n): the first n of a list. fixed_from(p, n): whether a permutation leaves the rest
// alone.
Value of_prefix(const std::string& name, const Values& v) {
  if (v[1].size() != 1 || v[1][0] < 0 || v[1][0] > static_cast<int64_t>(v[0].size()))
    return std::nullopt;
  const auto n = static_cast<size_t>(v[1][0]);
  if (name == "first") return std::vector<int64_t>(v[0].begin(), v[0].begin() + v[1][0]);
  for (size_t i = n; i < v[0].size(); ++i)
    if (v[0][i] != static_cast<int64_t>(i)) return {{0}};
  return {{1}};
}

// place(p, n): where n stands in a list, nothing where it does not. without(p, n): a permutation of
// one axis less, which the others close up over. sorted(p, n): its first n put in order.
Value of_lists(const std::string& name, const Values& v) {
  std::vector<int64_t> list = v[0];
  if (v[1].size() != 1) return std::nullopt;
  const int64_t n = v[1][0];
  if (name == "sorted") {
    if (n < 0 || n > static_cast<int64_t>(list.size())) return std::nullopt;
    std::sort(list.begin(), list.begin() + n);
    return list;
  }
  const auto at = std::find(list.begin(), list.end(), n);
  if (at == list.end()) return std::nullopt;
  if (name == "place") return {{at - list.begin()}};
  list.erase(at);
  for (int64_t& i : list) i -= i > n ? 1 : 0;
  return list;
}

// How many of the list are smaller, for each.
Value ranks(const std::vector<int64_t>& list) {
  std::vector<int64_t> out;
  for (const int64_t i : list)
    out.push_back(std::count_if(list.begin(), list.end(), [i](int64_t k) { return k < i; }));
  return out;
}

// The permutation of `rank` axes that takes axis `from` to place `to`.
Value moved(int64_t rank, int64_t from, int64_t to) {
  // 64 axes: a rank that a rule computed wrongly must not allocate without bound.
  if (from < 0 || to < 0 || from >= rank || to >= rank || rank > 64) return std::nullopt;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  return order;
}

// Nothing when neither side is known to be the smaller: `holds` then says no.
std::optional<bool> compare(const std::string& op, Size a, Size b, SizeTable& sizes) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  // A number where the symbols cancel and the difference is not negative; sizes have no negative
  // numbers.
  const auto difference = SizeTable::number(sizes.sub(a, b));
  const auto back = SizeTable::number(sizes.sub(b, a));
  if (!difference && !back) return std::nullopt;  // depends on the sizes' values
  const bool less = !difference, equal = a == b;
  if (op == "<") return less;
  if (op == "<=") return less || equal;
  if (op == ">") return !less && !equal;
  return !less;
}

Value of_numbers(const std::string& op, Size a, Size b, SizeTable& sizes) {
  if (op == "+") return {{sizes.add(a, b)}};
  if (op == "-") return {{sizes.sub(a, b)}};
  if (op == "*") return {{sizes.mul(a, b)}};
  if (op == "and") return {{a != 0 && b != 0}};
  // divides(a, b): a divides b, also as symbols (n divides 4 * n).
  if (op == "divides") return {{a != 0 && sizes.divide(b, a).has_value()}};
  // missing(k, s): how many rows s lacks to the next multiple of k.
  if (op == "missing") {
    const auto k = SizeTable::number(a), s = SizeTable::number(b);
    if (!k || !s || *k == 0) return std::nullopt;
    return {{(*k - *s % *k) % *k}};
  }
  const auto truth = compare(op == "min" ? "<" : op, a, b, sizes);
  if (op == "min") return truth ? Value{{*truth ? a : b}} : std::nullopt;
  return {{truth.value_or(false)}};
}

Value evaluate_call(const Node& node, const Match& match) {
  const Function* f = find_function(node.name);
  if (f && f->of_class) return class_function(node, match);
  Values v;
  // An argument without a value leaves the whole without one.
  for (const NodePtr& argument : node.arguments) {
    Value value = evaluate(*argument, match);
    if (!value) return std::nullopt;
    v.push_back(std::move(*value));
  }
  if (node.name == "compose" || node.name == "inverse" || node.name == "is_identity")
    return of_permutations(node, v);
  if (node.name == "first" || node.name == "fixed_from") return of_prefix(node.name, v);
  if (node.name == "place" || node.name == "without" || node.name == "sorted")
    return of_lists(node.name, v);
  if (node.name == "ranks") return ranks(v[0]);
  // What follows computes with single numbers.
  for (const std::vector<int64_t>& list : v)
    if (list.size() != 1) return std::nullopt;
  if (node.name == "moved") return moved(v[0][0], v[1][0], v[2][0]);
  if (node.name == "number") return {{SizeTable::number(v[0][0]).has_value()}};
  return of_numbers(node.name, v[0][0], v[1][0], match.types.language().sizes());
}

Value evaluate(const Node& node, const Match& match) {
  switch (node.kind) {
    case Node::Kind::kNumber:
      return {{node.number}};
    case Node::Kind::kVariable:
      return match.graph.ops().params(match.bindings[node.variable]);
    case Node::Kind::kElement: {
      const std::vector<int64_t>& params = match.graph.ops().params(match.bindings[node.variable]);
      if (node.number < 0 || node.number >= static_cast<int64_t>(params.size()))
        return std::nullopt;
      return {{params[static_cast<size_t>(node.number)]}};
    }
    case Node::Kind::kCall:
      return evaluate_call(node, match);
  }
  return std::nullopt;
}

}  // namespace

Value Expression::value(const Match& match) const { return evaluate(*node_, match); }

bool Expression::holds(const Match& match) const {
  const Value v = value(match);
  // No value, no condition that holds.
  return v && v->size() == 1 && (*v)[0] != 0;
}

}  // namespace exotune::eqsat
