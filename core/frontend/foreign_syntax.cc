#include "core/frontend/foreign_syntax.h"

#include <algorithm>

#include "core/base/words.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

constexpr std::pair<std::string_view, const char*> kAbsent[] = {
    {"while",
     "a loop runs a fixed number of times, over `seq(lo, hi)`; where data says when it ends, what "
     "is written keeps its value from then on: `x = select(a, b, x, c)` is `x` where a < b"},
    {"return", "results are arguments, which the procedure writes"},
    {"lambda", ""}};

}  // namespace

// Only configurations have fields, which are numbers.
void refuse_dotted(const TokenStream& t, const SyntaxExpr& e) {
  const std::string dotted = quoted(e.name + "." + e.field);
  if (t.at("("))
    throw InputError(e.where, dotted + " is called, and there are no modules and no methods",
                     "functions stand by themselves: write `" + e.field + "(...)`");
  if (t.at("["))
    throw InputError(e.where, dotted + " is subscripted, and only tensors have elements",
                     "the sizes of a tensor have names: those that it is declared with");
}

void refuse_field(const TokenStream& t, const SyntaxExpr& element) {
  SyntaxExpr number;
  number.kind = Kind::kInt;
  SyntaxExpr first = element;
  first.access.push_back({});
  first.access.back().lo.push_back(std::move(number));
  throw InputError(
      t.where(), "an element has no fields",
      "records are a last dimension, their fields its elements: " + quoted(written(first)));
}

void refuse_bits_assigned(TokenStream& t, const SyntaxExpr& target, const std::string& op) {
  const SourceLocation where = t.where(t.next());
  const std::string x = written(target);
  std::string hint = "there are no bit operations on data";
  if (op == "|" || op == "^") {
    hint = "write `" + x + " += " + written(parse_expression(t)) +
           "` where no bit is set in both; there are no other bit operations on data";
  } else if (op != "&") {
    const SyntaxExpr by = parse_expression(t);
    constexpr int64_t kMost = 30;  // of the bits of an i32
    if (by.kind == Kind::kInt && 0 <= by.integer && by.integer <= kMost) {
      const std::string power = std::to_string(int64_t{1} << by.integer);
      hint = op == "<<" ? "write `" + x + " *= " + power + "`"
                        : "write `" + x + " /= " + power +
                              "` where no number is negative: `/` cuts towards zero";
    }
  }
  throw InputError(where, "there is no " + quoted(op + "="), hint);
}

void refuse_keyword_as_name(const TokenStream& t) {
  if (!t.at(Token::Kind::kName) || !is_keyword(t.peek().text)) return;
  const Token& next = t.peek(1);
  const bool declares =
      TokenStream::is(next, ":") && t.peek(2).kind == Token::Kind::kName && !t.at("else");
  const bool begins_no_value = t.at("in") || t.at("pass") || t.at("from");
  bool assigns = begins_no_value && TokenStream::is(next, "[");
  for (const char* op : {"=", "+=", "-=", "*=", "/="}) assigns |= TokenStream::is(next, op);
  if (declares || assigns)
    throw InputError(t.where(), quoted(t.peek().text) + " is a keyword and names nothing",
                     "choose another name: `" + std::string(t.peek().text) + "_`");
}

void refuse_word(const TokenStream& t) {
  for (const char* word : {"def", "class", "import", "from", "@"})
    if (t.at(word)) throw InputError(t.where(), quoted(word) + " stands only at the top level");
  for (const auto& [word, instead] : kAbsent)
    if (t.at(word)) throw InputError(t.where(), "the language has no " + quoted(word), instead);
}

namespace {

// Expressions up to something that is no comma, `first` in front of them.
std::vector<SyntaxExpr> rest_of_list(TokenStream& t, const SyntaxExpr& first) {
  std::vector<SyntaxExpr> all = {first};
  while (t.accept(",")) all.push_back(parse_expression(t));
  return all;
}

std::string on_lines_of_their_own(const std::vector<std::string>& statements) {
  constexpr size_t kMost = 8;  // that still are a hint
  if (statements.size() > kMost) return "write one on each line";
  std::string out = "write one on each line: ";
  for (size_t k = 0; k < statements.size(); ++k) out += (k ? ", " : "") + quoted(statements[k]);
  return out;
}

bool mentions(const SyntaxExpr& e, const std::string& name) {
  if (e.name == name) return true;
  for (const SyntaxExpr& c : e.children)
    if (mentions(c, name)) return true;
  for (const SyntaxExpr::Access& a : e.access)
    for (const auto* ends : {&a.lo, &a.hi})
      for (const SyntaxExpr& c : *ends)
        if (mentions(c, name)) return true;
  return false;
}

// `a, b = c, d` in order, where no line reads what a line before it has overwritten.
std::vector<std::string> one_by_one(const std::vector<SyntaxExpr>& targets,
                                    const std::vector<SyntaxExpr>& values) {
  std::vector<std::string> out;
  constexpr size_t kMost = 8;  // all pairs are looked at
  if (targets.size() > kMost) return out;
  for (size_t k = 0; k < targets.size(); ++k) {
    for (size_t before = 0; before < k; ++before)
      if (mentions(values[k], targets[before].name)) return {};
    out.push_back(written(targets[k]) + " = " + written(values[k]));
  }
  return out;
}

}  // namespace

void refuse_several(TokenStream& t, const SyntaxExpr& first) {
  if (!t.at(",")) return;
  const SourceLocation where = t.where();
  const std::vector<SyntaxExpr> targets = rest_of_list(t, first);
  std::vector<std::string> statements;
  if (t.accept(":")) {
    const std::string type = written(parse_type(t));
    for (const SyntaxExpr& e : targets) statements.push_back(written(e) + ": " + type);
    throw InputError(where, "one declaration per statement", on_lines_of_their_own(statements));
  }
  std::string hint =
      "write one on each line; a scalar keeps what is overwritten and read later; whole arrays "
      "change places by a second step that goes the other way";
  if (t.accept("=")) {
    const std::vector<SyntaxExpr> values = rest_of_list(t, parse_expression(t));
    if (values.size() == targets.size()) statements = one_by_one(targets, values);
    if (!statements.empty()) hint = on_lines_of_their_own(statements);
  }
  throw InputError(where, "one assignment per statement", hint);
}

void refuse_more(TokenStream& t, const std::string& text) {
  const SourceLocation where = t.where();
  std::vector<std::string> statements = {text};
  while (t.accept(",")) {
    std::string next = written(parse_expression(t));
    if (t.accept(":")) next += ": " + written(parse_type(t));
    // `a = c, d` says of `d` not where it goes.
    if (!t.accept("="))
      throw InputError(where, "one assignment per statement", "write one on each line");
    statements.push_back(next + " = " + written(parse_expression(t)));
  }
  throw InputError(where, "one assignment per statement", on_lines_of_their_own(statements));
}

namespace {

struct ListOfNumbers {
  size_t count = 0;
  bool whole = true;  // integers all
};

// Behind the bracket, as far as there are numbers.
ListOfNumbers numbers_of(TokenStream& t) {
  ListOfNumbers list;
  t.expect("[");
  while (!t.at("]")) {
    const SyntaxExpr e = parse_expression(t);
    ++list.count;
    list.whole = list.whole && e.kind == Kind::kInt;
    if (!t.accept(",")) break;
  }
  return list;
}

constexpr const char* kWriteOut =
    "whole numbers that stand in subscripts or bounds are in no list: write the loop over them out";

}  // namespace

void refuse_list(TokenStream& t) {
  const SourceLocation where = t.where();
  std::string hint = "elements are assigned one by one: `x[0] = 1.0`";
  if (numbers_of(t).whole) hint += std::string("; ") + kWriteOut;
  throw InputError(where, "there are no lists of values", hint);
}

void refuse_constant_list(TokenStream& t, const std::string& name) {
  const SourceLocation where = t.where();
  const ListOfNumbers list = numbers_of(t);
  std::string hint = "values of data are an argument: " +
                     quoted(name + ": " + (list.whole ? "i32" : "f32") + "[" +
                            std::to_string(std::max(list.count, size_t{1})) + "]");
  if (list.whole) hint += std::string("; ") + kWriteOut;
  throw InputError(where, "there are no lists of values", hint);
}

namespace {

struct ListedElements {
  std::vector<std::string> statements;
  bool whole = true;      // integers all
  bool complete = false;  // a short list of values alone
};

// `v: f32[3] = [0.5, 1.0, 2.0]`, an element a line.
ListedElements listed_elements(TokenStream& t, const SyntaxExpr& target) {
  constexpr size_t kMost = 8;  // that still are a hint
  ListedElements out;
  t.expect("[");
  while (!t.at("]") && out.statements.size() <= kMost && !t.at("[")) {
    const SyntaxExpr value = parse_expression(t);
    out.whole = out.whole && value.kind == Kind::kInt;
    out.statements.push_back(target.name + "[" + std::to_string(out.statements.size()) +
                             "] = " + written(value));
    if (!t.accept(",")) break;
  }
  out.complete = t.at("]") && !out.statements.empty();
  return out;
}

// `v: f32[3] = 0.0`, by the loops that give it to each.
std::string filled_by_loops(const SyntaxExpr& target, const SyntaxType& type,
                            const SyntaxExpr& value) {
  std::string loops;
  std::vector<std::string> index;
  for (const SyntaxExpr& size : type.shape) {
    std::string k = "k";
    if (type.shape.size() > 1) k += std::to_string(index.size());
    const auto is_taken = [&](const SyntaxExpr& e) { return mentions(e, k); };
    while (mentions(value, k) || std::any_of(type.shape.begin(), type.shape.end(), is_taken))
      k += "_";
    loops += quoted("for " + k + " in seq(0, " + written(size) + "):") + ", and in it ";
    index.push_back(k);
  }
  return "allocate it, " + quoted(target.name + ": " + written(type)) +
         ", and assign its elements: " + loops +
         quoted(target.name + "[" + joined(index) + "] = " + written(value));
}

std::string instead_of_values(TokenStream& t, const SyntaxExpr& target, const SyntaxType& type) {
  if (t.at("[")) {
    const ListedElements list = listed_elements(t, target);
    if (list.complete)
      return "allocate it, " + quoted(target.name + ": " + written(type)) + ", and " +
             on_lines_of_their_own(list.statements);
    return "elements are assigned by statements of their own: `" + target.name +
           "[0] = 1.0`, or a loop";
  }
  const SyntaxExpr value = parse_expression(t);
  for (const SyntaxExpr::Access& a : value.access)
    if (a.range)
      return "a part of " + quoted(value.name) + " is a window, with no type: `" + target.name +
             " = " + written(value) + "`";
  return filled_by_loops(target, type, value);
}

}  // namespace

void refuse_list_assigned(TokenStream& t, const SyntaxExpr& target) {
  const SourceLocation where = t.where();
  const ListedElements list = listed_elements(t, target);
  std::string hint = "elements are assigned one by one: " + quoted(target.name + "[0] = 1.0");
  if (list.complete)
    hint = "elements are assigned one by one, of an array that is allocated first, " +
           quoted(target.name + (list.whole ? ": i32[" : ": f32[") +
                  std::to_string(list.statements.size()) + "]") +
           ": " + on_lines_of_their_own(list.statements);
  if (list.whole) hint += std::string("; ") + kWriteOut;
  throw InputError(where, "there are no lists of values", hint);
}

void refuse_values(TokenStream& t, const SourceLocation& where, const SyntaxExpr& target,
                   const SyntaxType& type) {
  throw InputError(where, "only a scalar is given a value where it is allocated",
                   instead_of_values(t, target, type));
}

}  // namespace exotune
