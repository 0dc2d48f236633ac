#include "core/frontend/syntax.h"

#include <algorithm>
#include <limits>

#include "core/base/words.h"
#include "core/frontend/foreign_syntax.h"

// Recursive descent over tokens, one function a level of precedence, lowest last: or, and, not,
// comparison, bits, sum, product, sign, primary. Syntax only: what names mean is elaborate.cc's
// affair. Every error is thrown where the offending token stands, with the form that would be
// accepted.
namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

SyntaxExpr parse_or(TokenStream& t);

SyntaxExpr node(Kind kind, SourceLocation where) {
  SyntaxExpr e;
  e.kind = kind;
  e.where = std::move(where);
  return e;
}

// Later passes walk trees by recursion: a sum of ten thousand terms is a list to the parser and a
// tree of that height to them. Measured here, once, so that none of them needs a check.
// Sets the height of a node that has all its children; refuses trees that recursion cannot walk.
SyntaxExpr finished(SyntaxExpr e) {
  int below = static_cast<int>(e.ops.size());  // a chain of comparisons becomes a conjunction
  // Subscripts hang below the access as children do.
  auto look = [&](const SyntaxExpr& c) { below = std::max(below, c.height); };
  for (const SyntaxExpr& c : e.children) look(c);
  for (const SyntaxExpr::Access& a : e.access) {
    for (const SyntaxExpr& c : a.lo) look(c);
    for (const SyntaxExpr& c : a.hi) look(c);
  }
  if (e.kind == Kind::kCompare) below += static_cast<int>(e.ops.size());
  e.height = below + 1;
  if (e.height > kMaxHeight) throw InputError(e.where, "this expression is too large");
  return e;
}

SyntaxExpr binary(BinOpKind op, SourceLocation where, SyntaxExpr lhs, SyntaxExpr rhs) {
  SyntaxExpr e = node(Kind::kBinary, std::move(where));
  e.op = op;
  e.children.reserve(2);
  e.children.push_back(std::move(lhs));
  e.children.push_back(std::move(rhs));
  return finished(std::move(e));
}

// A name, and what may follow it: a call, subscripts, a field. Trailing commas are allowed, as in
// Python; a second pair of brackets is what users of C type, and is told so.
SyntaxExpr parse_name(TokenStream& t) {
  SourceLocation where = t.where();
  std::string name(t.next().text);
  if (t.at("(")) {
    SyntaxExpr e = node(Kind::kCall, where);
    e.name = std::move(name);
    t.next();
    while (!t.at(")")) {
      e.children.push_back(parse_or(t));
      if (!t.accept(",")) break;
    }
    if (t.at("for"))
      throw InputError(
          t.where(), "a call takes no loop",
          "a sum or a maximum over a loop is written out: a variable that is set in front, and "
          "`for j in seq(0, N):` around what adds to it");
    t.expect(")", "after the arguments");
    return finished(std::move(e));
  }
  if (t.at("[")) {
    SyntaxExpr e = node(Kind::kSubscript, where);
    e.name = std::move(name);
    t.next();
    if (t.at("]")) t.fail("an index");
    while (!t.at("]")) {
      SyntaxExpr::Access a;
      // `x[:n]` and `x[n:]` leave an end out.
      if (!t.at(":")) a.lo.push_back(parse_or(t));
      if (t.accept(":")) {
        a.range = true;
        if (!t.at(",") && !t.at("]")) a.hi.push_back(parse_or(t));
        if (t.at(":")) {
          const SourceLocation step = t.where(t.next());
          const std::string by = t.at("]") ? "2" : written_operand(parse_or(t));
          throw InputError(step, "a window has no step",
                           "elements so far apart are named one by one, in a loop: " +
                               quoted(e.name + "[" + by + " * i]"));
        }
      }
      e.access.push_back(std::move(a));
      if (!t.accept(",")) break;
    }
    t.expect("]", "after the indices");
    if (t.at("["))
      throw InputError(t.where(), "indices go in one pair of brackets", "write `x[i, j]`");
    if (t.at(".")) refuse_field(t, e);
    return finished(std::move(e));
  }
  if (t.at(".")) {
    SyntaxExpr e = node(Kind::kAttribute, where);
    e.name = std::move(name);
    t.next();
    e.field = std::string(t.expect_name("a configuration field").text);
    refuse_dotted(t, e);
    return e;
  }
  SyntaxExpr e = node(Kind::kName, where);
  e.name = std::move(name);
  return e;
}

SyntaxExpr parse_primary(TokenStream& t) {
  const Token& token = t.peek();
  SourceLocation where = t.where();
  switch (token.kind) {
    case Token::Kind::kInt: {
      if (token.integer > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        throw InputError(where, "this integer does not fit in 64 bits");
      }
      SyntaxExpr e = node(Kind::kInt, where);
      e.integer = static_cast<int64_t>(t.next().integer);
      return e;
    }
    case Token::Kind::kFloat: {
      SyntaxExpr e = node(Kind::kFloat, where);
      e.number = t.next().number;
      return e;
    }
    case Token::Kind::kName:
      if (t.at("True") || t.at("False")) {
        SyntaxExpr e = node(Kind::kBool, where);
        e.integer = t.next().text == "True";
        return e;
      }
      // `if`, `for` ...: no expression begins so.
      if (is_keyword(token.text)) break;
      return parse_name(t);
    case Token::Kind::kOp:
      if (t.at("[")) refuse_list(t);
      if (t.accept("(")) {
        SyntaxExpr e = parse_or(t);
        if (t.at(","))
          throw InputError(t.where(), "there are no tuples",
                           "a statement assigns one value: write one on each line");
        t.expect(")", "to close the bracket");
        return e;
      }
      break;
    default:
      break;
  }
  t.fail("an expression");
}

SyntaxExpr parse_unary(TokenStream& t);

SyntaxExpr parse_unary(TokenStream& t) {
  if (!t.at("+") && !t.at("-")) {
    SyntaxExpr e = parse_primary(t);
    if (!t.at("**")) return e;
    const TokenStream::Nesting nesting(t);
    SyntaxExpr power = node(Kind::kBits, t.where());
    power.name = std::string(t.next().text);
    power.children.push_back(std::move(e));
    power.children.push_back(parse_unary(t));
    return finished(std::move(power));
  }
  // - - - - x: each sign is a call of this function.
  TokenStream::Nesting nesting(t);
  SourceLocation where = t.where();
  if (t.accept("+")) return parse_unary(t);
  t.expect("-");
  // A minus right before a literal belongs to it: -4 is one constant, -(4) a negation.
  if (t.at(Token::Kind::kInt)) {
    SyntaxExpr e = node(Kind::kInt, where);
    e.integer = static_cast<int64_t>(uint64_t{0} - t.next().integer);
    return e;
  }
  if (t.at(Token::Kind::kFloat)) {
    SyntaxExpr e = node(Kind::kFloat, where);
    e.number = -t.next().number;
    return e;
  }
  SyntaxExpr e = node(Kind::kNegate, where);
  e.children.push_back(parse_unary(t));
  return finished(std::move(e));
}

// Left-associative, by a loop: recursion on the left would not end, and one on the right would give
// a - (b - c).
SyntaxExpr parse_product(TokenStream& t) {
  SyntaxExpr e = parse_unary(t);
  for (;;) {
    BinOpKind op;
    if (t.at("*")) {
      op = BinOpKind::kMul;
    } else if (t.at("/")) {
      op = BinOpKind::kDiv;
    } else if (t.at("%")) {
      op = BinOpKind::kMod;
    } else if (t.at("//")) {
      throw InputError(
          t.where(), "there is no `//` operator",
          "`/` is floor division on sizes and indices; integers of data it cuts towards "
          "zero, as C does; of reals `floor(a / b)` is meant");
    } else {
      return e;
    }
    // A binary expression's place is its operator's, where messages about its operands' types
    // point.
    SourceLocation where = t.where(t.next());
    e = binary(op, std::move(where), std::move(e), parse_unary(t));
  }
}

SyntaxExpr parse_sum(TokenStream& t) {
  SyntaxExpr e = parse_product(t);
  while (t.at("+") || t.at("-")) {
    BinOpKind op = t.at("+") ? BinOpKind::kAdd : BinOpKind::kSub;
    SourceLocation where = t.where(t.next());
    e = binary(op, std::move(where), std::move(e), parse_product(t));
  }
  return e;
}

// What Python has between sums and comparisons: the operands say what is written instead, and whose
// they are is known later.
SyntaxExpr bits(TokenStream& t, SyntaxExpr lhs, SyntaxExpr (*operand)(TokenStream&)) {
  SyntaxExpr e = node(Kind::kBits, t.where());
  e.name = std::string(t.next().text);
  if (t.at("=")) refuse_bits_assigned(t, lhs, e.name);
  e.children.push_back(std::move(lhs));
  e.children.push_back(operand(t));
  return finished(std::move(e));
}

SyntaxExpr parse_shift(TokenStream& t) {
  SyntaxExpr e = parse_sum(t);
  while (t.at("<<") || t.at(">>")) e = bits(t, std::move(e), parse_sum);
  return e;
}

SyntaxExpr parse_mask(TokenStream& t) {
  SyntaxExpr e = parse_shift(t);
  while (t.at("&")) e = bits(t, std::move(e), parse_shift);
  return e;
}

SyntaxExpr parse_bit_xor(TokenStream& t) {
  SyntaxExpr e = parse_mask(t);
  while (t.at("^")) e = bits(t, std::move(e), parse_mask);
  return e;
}

SyntaxExpr parse_bits(TokenStream& t) {
  SyntaxExpr e = parse_bit_xor(t);
  while (t.at("|")) e = bits(t, std::move(e), parse_bit_xor);
  return e;
}

std::optional<BinOpKind> comparison(const TokenStream& t) {
  if (t.at("<")) return BinOpKind::kLt;
  if (t.at("<=")) return BinOpKind::kLe;
  if (t.at(">")) return BinOpKind::kGt;
  if (t.at(">=")) return BinOpKind::kGe;
  if (t.at("==")) return BinOpKind::kEq;
  if (t.at("!=")) return BinOpKind::kNe;
  return {};
}

SyntaxExpr parse_comparison(TokenStream& t) {
  SyntaxExpr first = parse_bits(t);
  std::optional<BinOpKind> op = comparison(t);
  if (!op) return first;
  SyntaxExpr e = node(Kind::kCompare, t.where());
  e.children.push_back(std::move(first));
  // `0 <= i < n` is one chain; what it means is a conjunction.
  for (; op; op = comparison(t)) {
    t.next();
    e.ops.push_back(*op);
    e.children.push_back(parse_bits(t));
  }
  return finished(std::move(e));
}

SyntaxExpr parse_not(TokenStream& t) {
  if (!t.at("not")) return parse_comparison(t);
  TokenStream::Nesting nesting(t);
  SourceLocation where = t.where(t.next());
  SyntaxExpr e = node(Kind::kNot, where);
  e.children.push_back(parse_not(t));
  return finished(std::move(e));
}

SyntaxExpr parse_and(TokenStream& t) {
  SyntaxExpr e = parse_not(t);
  while (t.at("and")) {
    SourceLocation where = t.where(t.next());
    e = binary(BinOpKind::kAnd, std::move(where), std::move(e), parse_not(t));
  }
  return e;
}

// The entry to expressions, and the one place where nesting is counted for brackets, calls and
// indices, all of which come back here.
SyntaxExpr parse_or(TokenStream& t) {
  TokenStream::Nesting nesting(t);
  SyntaxExpr e = parse_and(t);
  while (t.at("or")) {
    SourceLocation where = t.where(t.next());
    e = binary(BinOpKind::kOr, std::move(where), std::move(e), parse_and(t));
  }
  if (!t.at("if")) return e;
  // `c if a else d` of Python: whether `a` is data, which decides what is written, is known later.
  SyntaxExpr choice = node(Kind::kChoice, t.where(t.next()));
  choice.children.push_back(parse_or(t));
  t.expect("else", "and the other value");
  choice.children.insert(choice.children.begin() + 1, std::move(e));
  choice.children.push_back(parse_or(t));
  return finished(std::move(choice));
}

SyntaxStmt parse_for(TokenStream& t) {
  SyntaxStmt s;
  s.kind = SyntaxStmt::Kind::kFor;
  s.where = t.where(t.next());
  SourceLocation where = t.where();
  s.target = node(Kind::kName, where);
  s.target->name = std::string(t.expect_name("the loop's iterator").text);
  if (t.at(","))
    throw InputError(t.where(), "a loop has one iterator",
                     "write two loops, one in the other: `for " + s.target->name +
                         " in seq(0, n):`, and in it a `for` of the next");
  t.expect("in", "after the iterator");
  s.value = parse_or(t);
  s.body = parse_suite(t);
  if (t.at("else")) throw InputError(t.where(), "a loop has no `else`");
  return s;
}

SyntaxStmt parse_if(TokenStream& t) {
  // An `elif` nests in the `else` of what stands before it: built from the last one back.
  std::vector<SyntaxStmt> chain;
  do {
    if (chain.size() == static_cast<size_t>(kMaxChain))
      throw InputError(t.where(), "this chain of `elif` is too long");
    SyntaxStmt s;
    s.kind = SyntaxStmt::Kind::kIf;
    s.where = t.where(t.next());
    s.value = parse_or(t);
    s.body = parse_suite(t);
    chain.push_back(std::move(s));
  } while (t.at("elif"));
  if (t.accept("else")) chain.back().orelse = parse_suite(t);
  for (; chain.size() > 1; chain.pop_back())
    chain[chain.size() - 2].orelse.push_back(std::move(chain.back()));
  return std::move(chain.front());
}

// `max=` is a name and an operator to the lexer, which keeps `max` free as a name; so are the
// reductions that do not exist, which get their own message here.
// `+=`, `max=` or `min=`, taken from the stream.
std::optional<ReduceOp> reduction(TokenStream& t) {
  if (t.accept("+=")) return ReduceOp::kAdd;
  if (!t.at(Token::Kind::kName) || is_keyword(t.peek().text)) return {};
  const bool assigns = TokenStream::is(t.peek(1), "=");
  const bool maximum = t.at("max"), minimum = t.at("min");
  if (assigns && (maximum || minimum)) {
    // The name and the `=` behind it.
    t.next(), t.next();
    return maximum ? ReduceOp::kMax : ReduceOp::kMin;
  }
  if (assigns || TokenStream::is(t.peek(1), "+=") || TokenStream::is(t.peek(1), "==")) {
    throw InputError(t.where(), "there is no reduction `" + std::string(t.peek().text) + "=`",
                     "the reductions are `+=`, `-=`, `max=` and `min=`");
  }
  return {};
}

// -e, a literal with its sign.
// `x -= 1` adds -1, a literal, and prints as such.
SyntaxExpr negated(SyntaxExpr e) {
  if (e.kind == Kind::kInt && e.integer > 0) {
    e.integer = -e.integer;
    return e;
  }
  if (e.kind == Kind::kFloat) {
    e.number = -e.number;
    return e;
  }
  SyntaxExpr out = node(Kind::kNegate, e.where);
  out.children.push_back(std::move(e));
  return finished(std::move(out));
}

// `x : f32 = e`: a scalar, which one assignment fills.
void initial_value(TokenStream& t, SyntaxStmt& s) {
  const SourceLocation where = t.where(t.next());
  if (s.type.has_brackets) refuse_values(t, where, *s.target, s.type);
  s.value = parse_or(t);
  if (t.at(","))
    refuse_more(t, s.target->name + ": " + written(s.type) + " = " + written(*s.value));
}

// All that fits on a line. The statement's kind is known only behind its first expression, which is
// why that is parsed before it is known to be a target.
SyntaxStmt parse_simple(TokenStream& t) {
  SyntaxStmt s;
  s.where = t.where();
  if (t.accept("pass")) return s;
  if (t.accept("assert")) {
    s.kind = SyntaxStmt::Kind::kAssert;
    s.value = parse_or(t);
    return s;
  }
  refuse_word(t);
  SyntaxExpr first = parse_or(t);
  refuse_several(t, first);
  // For `x *= e`, whose product has no place of its own in the text.
  const SourceLocation at_operator = t.where();
  auto rest = [&](SyntaxStmt::Kind kind) {
    bool lvalue = first.kind == Kind::kName || first.kind == Kind::kSubscript ||
                  first.kind == Kind::kAttribute;
    if (!lvalue) throw InputError(first.where, "this cannot be written to");
    s.kind = kind;
    s.target = std::move(first);
  };
  if (t.accept("=")) {
    if (first.kind == Kind::kName && t.at("[")) refuse_list_assigned(t, first);
    rest(SyntaxStmt::Kind::kAssign);
    s.value = parse_or(t);
    if (t.at("=")) throw InputError(t.where(), "one assignment per statement");
    if (t.at(",")) refuse_more(t, written(*s.target) + " = " + written(*s.value));
  } else if (std::optional<ReduceOp> op = reduction(t)) {
    s.op = *op;
    rest(SyntaxStmt::Kind::kReduce);
    s.value = parse_or(t);
  } else if (t.accept("-=")) {
    rest(SyntaxStmt::Kind::kReduce);
    s.value = negated(parse_or(t));
    // `x *= e` becomes x = x * e: reductions of the language are the associative ones, and a
    // product is none that schedules could use.
  } else if (t.at("*=") || t.at("/=")) {
    const BinOpKind scale = t.at("*=") ? BinOpKind::kMul : BinOpKind::kDiv;
    t.next();
    rest(SyntaxStmt::Kind::kAssign);
    if (s.target->kind == Kind::kAttribute)
      throw InputError(s.where, "a configuration field is assigned with `=` only");
    s.value = binary(scale, at_operator, *s.target, parse_or(t));
  } else if (t.accept(":")) {
    if (first.kind != Kind::kName) throw InputError(first.where, "only a name can be allocated");
    rest(SyntaxStmt::Kind::kAlloc);
    s.type = parse_type(t);
    if (t.at("=")) initial_value(t, s);
  } else {
    s.kind = SyntaxStmt::Kind::kExpr;
    s.value = std::move(first);
  }
  return s;
}

}  // namespace

SyntaxExpr parse_expression(TokenStream& t) { return parse_or(t); }

SyntaxType parse_type(TokenStream& t) {
  SyntaxType type;
  type.where = t.where();
  if (t.accept("[")) {
    type.window = true;
    type.scalar = std::string(t.expect_name("a precision").text);
    t.expect("]", "after the window's precision");
    if (!t.at("[")) t.fail("`[` and the window's sizes");
  } else {
    type.scalar = std::string(t.expect_name("a type").text);
  }
  if (t.accept("[")) {
    type.has_brackets = true;
    if (t.at("]")) t.fail("a size");
    while (!t.at("]")) {
      type.shape.push_back(parse_or(t));
      if (t.at(":")) throw InputError(t.where(), "a type has sizes, not ranges");
      if (!t.accept(",")) break;
    }
    t.expect("]", "after the sizes");
    if (t.at("["))
      throw InputError(t.where(), "sizes go in one pair of brackets", "write `f32[n, m]`");
  }
  if (t.accept("@")) {
    type.memory_where = t.where();
    type.memory = std::string(t.expect_name("a memory").text);
  }
  return type;
}

// One line may hold several statements, separated by `;`. Keywords that belong to an `if` are
// caught here, where they would otherwise read as names.
void parse_statement(TokenStream& t, std::vector<SyntaxStmt>& into) {
  TokenStream::Nesting nesting(t);
  if (t.at(Token::Kind::kIndent)) throw InputError(t.where(), "unexpected indentation");
  for (;;) {
    refuse_keyword_as_name(t);
    if (t.at("for")) {
      into.push_back(parse_for(t));
      return;
    }
    if (t.at("if")) {
      into.push_back(parse_if(t));
      return;
    }
    if (t.at("elif") || t.at("else")) {
      throw InputError(t.where(), "this `" + std::string(t.peek().text) + "` belongs to no `if`");
    }
    into.push_back(parse_simple(t));
    bool more = t.accept(";");
    if (t.accept(Token::Kind::kNewline) || t.at(Token::Kind::kEnd)) return;
    if (!more) t.fail("the end of the statement");
  }
}

// A block on the same line or an indented one; dedents are tokens, so that no column is looked at
// here.
std::vector<SyntaxStmt> parse_suite(TokenStream& t) {
  t.expect(":");
  std::vector<SyntaxStmt> body;
  if (!t.accept(Token::Kind::kNewline)) {
    parse_statement(t, body);
    return body;
  }
  if (!t.accept(Token::Kind::kIndent)) t.fail("an indented block");
  while (!t.accept(Token::Kind::kDedent)) {
    if (t.at(Token::Kind::kEnd)) break;
    parse_statement(t, body);
  }
  return body;
}

}  // namespace exotune
