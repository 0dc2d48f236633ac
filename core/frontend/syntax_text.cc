// Syntax as text again, for messages: what the user wrote, before casts became scalars of their own
// and literals numbers of a type.
#include "core/base/words.h"
#include "core/frontend/syntax.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

// As the grammar's levels, lowest first.
constexpr int kChoiceLevel = 0, kNotLevel = 3, kComparisonLevel = 4, kBitOrLevel = 5,
              kBitXorLevel = 6, kMaskLevel = 7, kShiftLevel = 8, kSumLevel = 9, kProductLevel = 10,
              kUnaryLevel = 11, kPrimaryLevel = 12;

int level_of(BinOpKind op) {
  if (op == BinOpKind::kOr) return 1;
  if (op == BinOpKind::kAnd) return 2;
  return op == BinOpKind::kAdd || op == BinOpKind::kSub ? kSumLevel : kProductLevel;
}

int level_of(const SyntaxExpr& e) {
  switch (e.kind) {
    case Kind::kChoice:
      return kChoiceLevel;
    case Kind::kBinary:
      return level_of(e.op);
    case Kind::kNot:
      return kNotLevel;
    case Kind::kCompare:
      return kComparisonLevel;
    case Kind::kBits:
      if (e.name == "**") return kUnaryLevel;
      if (e.name == "|") return kBitOrLevel;
      if (e.name == "^") return kBitXorLevel;
      return e.name == "&" ? kMaskLevel : kShiftLevel;
    case Kind::kNegate:
      return kUnaryLevel;
    case Kind::kInt:
      return e.integer < 0 ? kUnaryLevel : kPrimaryLevel;
    case Kind::kFloat:
      return e.number < 0 ? kUnaryLevel : kPrimaryLevel;
    default:
      return kPrimaryLevel;
  }
}

std::string text_of(const SyntaxExpr& e, int outer);

std::string text_of(const SyntaxExpr::Access& a) {
  std::string out = a.lo.empty() ? "" : text_of(a.lo[0], 0);
  if (a.range) out += ":" + (a.hi.empty() ? "" : text_of(a.hi[0], 0));
  return out;
}

// Without brackets around all of it.
std::string bare(const SyntaxExpr& e) {
  std::vector<std::string> parts;
  switch (e.kind) {
    case Kind::kName:
      return e.name;
    case Kind::kInt:
      return std::to_string(e.integer);
    case Kind::kBool:
      return e.integer != 0 ? "True" : "False";
    case Kind::kFloat:
      return str(make_expr(Const{e.number}, ScalarType::kR, e.where));
    case Kind::kNegate: {
      // -(4) is a negation, -4 a literal.
      const bool literal = e.children[0].kind == Kind::kInt || e.children[0].kind == Kind::kFloat;
      const std::string of = text_of(e.children[0], kUnaryLevel);
      return literal && of[0] != '(' ? "-(" + of + ")" : "-" + of;
    }
    case Kind::kNot:
      return "not " + text_of(e.children[0], kNotLevel);
    case Kind::kBinary:
      return text_of(e.children[0], level_of(e.op)) + " " + name_of(e.op) + " " +
             text_of(e.children[1], level_of(e.op) + 1);
    case Kind::kBits:
      if (e.name == "**")
        return text_of(e.children[0], kPrimaryLevel) + " ** " + text_of(e.children[1], kUnaryLevel);
      return text_of(e.children[0], level_of(e)) + " " + e.name + " " +
             text_of(e.children[1], level_of(e) + 1);
    case Kind::kCompare: {
      std::string out = text_of(e.children[0], kComparisonLevel + 1);
      for (size_t k = 0; k < e.ops.size(); ++k)
        out += std::string(" ") + name_of(e.ops[k]) + " " +
               text_of(e.children[k + 1], kComparisonLevel + 1);
      return out;
    }
    case Kind::kChoice:
      return text_of(e.children[1], kChoiceLevel + 1) + " if " +
             text_of(e.children[0], kChoiceLevel + 1) + " else " +
             text_of(e.children[2], kChoiceLevel);
    case Kind::kSubscript:
      for (const SyntaxExpr::Access& a : e.access) parts.push_back(text_of(a));
      break;
    case Kind::kCall:
      for (const SyntaxExpr& c : e.children) parts.push_back(text_of(c, 0));
      break;
    case Kind::kAttribute:
      return e.name + "." + e.field;
  }
  std::string inside;
  for (size_t k = 0; k < parts.size(); ++k) inside += (k ? ", " : "") + parts[k];
  return e.kind == Kind::kCall ? e.name + "(" + inside + ")" : e.name + "[" + inside + "]";
}

std::string text_of(const SyntaxExpr& e, int outer) {
  return level_of(e) < outer ? "(" + bare(e) + ")" : bare(e);
}

}  // namespace

std::string written(const SyntaxExpr& e) { return bare(e); }

std::string written(const SyntaxType& type) {
  std::vector<std::string> sizes;
  for (const SyntaxExpr& e : type.shape) sizes.push_back(written(e));
  std::string out = type.window ? "[" + type.scalar + "]" : type.scalar;
  if (type.has_brackets) out += "[" + joined(sizes) + "]";
  return type.memory.empty() ? out : out + " @ " + type.memory;
}

std::string written_operand(const SyntaxExpr& e) { return text_of(e, kPrimaryLevel); }

std::string written_term(const SyntaxExpr& e) { return text_of(e, kSumLevel); }

}  // namespace exotune
