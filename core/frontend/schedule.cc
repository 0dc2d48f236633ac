#include "core/frontend/schedule.h"

#include <algorithm>
#include <limits>

#include "core/frontend/lexer.h"

namespace exotune {
namespace {

using ExprKind = ScheduleExpr::Kind;

// Schedules are the part of Python that Exo's users write: assignments, calls, literals,
// subscripts, arithmetic on integers. No control flow, so that a script is a list of steps and can
// be printed from a trace.
class ScheduleParser {
 public:
  ScheduleParser(std::string_view text, const std::string& file) : t_(text, file) {}

  std::vector<ScheduleStmt> run() {
    std::vector<ScheduleStmt> out;
    while (!t_.at(Token::Kind::kEnd)) {
      // Blank lines between statements.
      if (t_.accept(Token::Kind::kNewline)) continue;
      if (t_.at(Token::Kind::kIndent)) throw InputError(t_.where(), "unexpected indentation");
      for (const char* word :
           {"for", "if", "def", "while", "class", "assert", "return", "lambda"}) {
        if (t_.at(word)) {
          throw InputError(t_.where(), "a script has no `" + std::string(word) + "`",
                           "schedules that decide or repeat are written in C++");
        }
      }
      if (t_.at("from") || t_.at("import")) {
        throw InputError(t_.where(), "a script imports nothing",
                         "targets are imported by the .exo file or named by --target");
      }
      out.push_back(statement());
      if (!t_.accept(";") && !t_.accept(Token::Kind::kNewline) && !t_.at(Token::Kind::kEnd)) {
        t_.fail("the end of the statement");
      }
    }
    return out;
  }

 private:
  // Without children yet; height 1 until finished() says otherwise.
  ScheduleExpr node(ExprKind kind, SourceLocation where) {
    ScheduleExpr e;
    e.kind = kind;
    e.where = std::move(where);
    return e;
  }

  // Sets the height of a node that has all its children; refuses trees that recursion cannot walk.
  ScheduleExpr finished(ScheduleExpr e) {
    int below = 0;
    for (const ScheduleExpr& c : e.children) below = std::max(below, c.height);
    for (const ScheduleExpr::Keyword& k : e.keywords) below = std::max(below, k.value.height);
    e.height = below + 1;
    if (e.height > kMaxHeight) throw InputError(e.where, "this expression is too large");
    return e;
  }

  ScheduleStmt statement() {
    ScheduleStmt s;
    s.where = t_.where();
    // A statement keeps its text, which messages and traces show as it was written.
    const char* start = t_.peek().text.data();
    ScheduleExpr first = tuple();
    if (t_.accept("=")) {
      s.target = target(std::move(first));
      s.value = tuple();
      // `a = b = c`.
      if (t_.at("=")) throw InputError(t_.where(), "one assignment per statement");
    } else {
      s.value = std::move(first);
    }
    // Up to the token that ends the statement, without blanks or a comment before it.
    size_t length = static_cast<size_t>(last_end_ - start);
    s.text = std::string(start, length);
    return s;
  }

  // A name or a tuple of targets.
  ScheduleExpr target(ScheduleExpr e) {
    if (e.kind == ExprKind::kName) return e;
    if (e.kind != ExprKind::kTuple && e.kind != ExprKind::kList) {
      throw InputError(e.where, "only names are assigned", "write `p = ...` or `p, c = ...`");
    }
    if (e.children.empty()) throw InputError(e.where, "no name to assign to");
    // `[a, b] = ...` means the same as `a, b = ...`.
    e.kind = ExprKind::kTuple;
    for (ScheduleExpr& part : e.children) part = target(std::move(part));
    return e;
  }

  // a | a, b | a,
  ScheduleExpr tuple() {
    SourceLocation where = t_.where();
    ScheduleExpr first = sum();
    if (!t_.at(",")) return first;
    ScheduleExpr e = node(ExprKind::kTuple, where);
    e.children.push_back(std::move(first));
    while (accept(",")) {
      // A comma may stand at the end: `p, = f(x)`.
      if (t_.at("=") || t_.at(Token::Kind::kNewline) || t_.at(Token::Kind::kEnd) || t_.at(")"))
        break;
      e.children.push_back(sum());
    }
    return finished(std::move(e));
  }

  ScheduleExpr binary(std::string op, SourceLocation where, ScheduleExpr lhs, ScheduleExpr rhs) {
    ScheduleExpr e = node(ExprKind::kBinary, std::move(where));
    e.text = std::move(op);
    e.children.push_back(std::move(lhs));
    e.children.push_back(std::move(rhs));
    return finished(std::move(e));
  }
  template <class F>
  ScheduleExpr chain(std::initializer_list<const char*> ops, F operand) {
    ScheduleExpr e = operand();
    for (;;) {
      const char* found = nullptr;
      for (const char* op : ops)
        if (t_.at(op)) found = op;
      if (!found) return e;
      SourceLocation where = t_.where();
      take();
      e = binary(found, std::move(where), std::move(e), operand());
    }
  }
  ScheduleExpr sum() {
    TokenStream::Nesting nesting(t_);
    ScheduleExpr e = chain({"+", "-"}, [&] { return product(); });
    // Said here, where the operator stands, instead of "expected the end of the statement".
    for (const char* op : {"<", ">", "<=", ">=", "==", "!=", "and", "or", "if", "for", "in"}) {
      if (t_.at(op)) {
        throw InputError(t_.where(),
                         "a script has no `" + std::string(op) + "` outside of strings");
      }
    }
    return e;
  }
  ScheduleExpr product() {
    ScheduleExpr e = chain({"*", "//", "%"}, [&] { return unary(); });
    if (t_.at("/")) throw InputError(t_.where(), "write `//` for the quotient of integers");
    return e;
  }
  ScheduleExpr unary() {
    if (!t_.at("+") && !t_.at("-")) return postfix();
    TokenStream::Nesting nesting(t_);
    SourceLocation where = t_.where();
    if (accept("+")) return unary();
    take();
    if (t_.at(Token::Kind::kInt)) {
      ScheduleExpr e = node(ExprKind::kInt, where);
      // -2^63 has no positive counterpart; the lexer lets 2^63 pass for it.
      e.integer = static_cast<int64_t>(uint64_t{0} - take().integer);
      return e;
    }
    ScheduleExpr e = node(ExprKind::kNegate, where);
    e.children.push_back(unary());
    return finished(std::move(e));
  }

  // Calls, attributes and subscripts bind tighter than signs and stack to any depth, within the
  // limit on nesting.
  ScheduleExpr postfix() {
    ScheduleExpr e = primary();
    for (;;) {
      SourceLocation where = t_.where();
      if (accept(".")) {
        ScheduleExpr a = node(ExprKind::kAttribute, t_.where());
        if (!t_.at(Token::Kind::kName)) t_.fail("the name of an attribute");
        a.text = std::string(take().text);
        a.children.push_back(std::move(e));
        e = finished(std::move(a));
      } else if (t_.at("(")) {
        e = call(std::move(e));
      } else if (accept("[")) {
        e = subscript(std::move(e), std::move(where));
      } else {
        return e;
      }
    }
  }

  // Positional arguments before keywords, as in Python; the evaluator binds them.
  ScheduleExpr call(ScheduleExpr callee) {
    ScheduleExpr e = node(ExprKind::kCall, callee.where);
    e.children.push_back(std::move(callee));
    take();
    while (!t_.at(")")) {
      if (t_.at(Token::Kind::kName) && TokenStream::is(t_.peek(1), "=")) {
        SourceLocation where = t_.where();
        std::string name(take().text);
        take();
        for (const ScheduleExpr::Keyword& k : e.keywords)
          if (k.name == name) throw InputError(where, "`" + name + "` is given twice");
        e.keywords.push_back({std::move(name), where, sum()});
      } else {
        if (t_.at("*") || t_.at("**")) t_.fail("an argument");
        if (!e.keywords.empty()) {
          throw InputError(t_.where(), "arguments by position come before those by name");
        }
        e.children.push_back(sum());
      }
      if (!accept(",")) break;
    }
    expect(")", "after the arguments");
    return finished(std::move(e));
  }

  ScheduleExpr subscript(ScheduleExpr base, SourceLocation where) {
    ScheduleExpr e = node(ExprKind::kSubscript, std::move(where));
    e.children.push_back(std::move(base));
    // An end that is left out is None, as in Python.
    auto end = [&] {
      bool absent = t_.at(":") || t_.at("]");
      e.children.push_back(absent ? node(ExprKind::kNone, t_.where()) : sum());
    };
    if (t_.at("]")) t_.fail("an index");
    end();
    if (accept(":")) {
      e.kind = ExprKind::kSlice;
      end();
    }
    expect("]", "after the index");
    return finished(std::move(e));
  }

  ScheduleExpr primary() {
    SourceLocation where = t_.where();
    const Token& token = t_.peek();
    switch (token.kind) {
      case Token::Kind::kInt: {
        ScheduleExpr e = node(ExprKind::kInt, where);
        if (token.integer > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
          throw InputError(where, "this integer does not fit in 64 bits");
        }
        e.integer = static_cast<int64_t>(take().integer);
        return e;
      }
      case Token::Kind::kFloat: {
        ScheduleExpr e = node(ExprKind::kFloat, where);
        e.number = take().number;
        return e;
      }
      case Token::Kind::kString: {
        ScheduleExpr e = node(ExprKind::kString, where);
        // Literals side by side are one.
        while (t_.at(Token::Kind::kString)) e.text += take().value;
        return e;
      }
      case Token::Kind::kName: {
        if (t_.at("None")) {
          take();
          return node(ExprKind::kNone, where);
        }
        if (t_.at("True") || t_.at("False")) {
          ScheduleExpr e = node(ExprKind::kBool, where);
          e.boolean = take().text == "True";
          return e;
        }
        // A keyword begins no expression.
        if (is_keyword(token.text)) break;
        ScheduleExpr e = node(ExprKind::kName, where);
        e.text = std::string(take().text);
        return e;
      }
      case Token::Kind::kOp:
        if (accept("[")) return list(std::move(where));
        if (accept("(")) {
          // `()` is a tuple of nothing; `(a)` is a.
          if (accept(")")) return node(ExprKind::kTuple, where);
          ScheduleExpr e = tuple();
          expect(")", "to close the bracket");
          return e;
        }
        if (t_.at("{")) throw InputError(where, "a script has no dictionaries");
        break;
      default:
        break;
    }
    t_.fail("an expression");
  }

  ScheduleExpr list(SourceLocation where) {
    ScheduleExpr e = node(ExprKind::kList, std::move(where));
    while (!t_.at("]")) {
      e.children.push_back(sum());
      if (!accept(",")) break;
    }
    expect("]", "after the list");
    return finished(std::move(e));
  }

  // Every token that belongs to an expression is taken through these, so that the text of a
  // statement is known to end with the last one.
  const Token& take() {
    const Token& t = t_.next();
    last_end_ = t.text.data() + t.text.size();
    return t;
  }
  bool accept(std::string_view op) {
    if (!t_.at(op)) return false;
    take();
    return true;
  }
  void expect(std::string_view op, std::string_view context) {
    if (!t_.at(op)) t_.expect(op, context);
    take();
  }

  TokenStream t_;
  const char* last_end_ = nullptr;
};

}  // namespace

ScheduleAst parse_schedule(std::string_view text, const std::string& file) {
  return {file, ScheduleParser(text, file).run()};
}

}  // namespace exotune
