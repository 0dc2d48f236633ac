// Control expressions: int64_t and bool arithmetic with floor division.
#include <algorithm>
#include <limits>

#include "core/codegen/function_emitter.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
namespace {

std::string integer_literal(int64_t v) {
  if (v == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807LL - 1)";
  // An int constant suffices otherwise: operands are int64_t and widen it.
  const bool wide = v > 2147483647LL || v < -2147483647LL;
  return std::to_string(v) + (wide ? "LL" : "");
}

Text integer_text(int64_t v) { return {integer_literal(v), v < 0 ? Text::kUnary : Text::kPrimary}; }

// Also -k as the parser leaves it for `-(k)`.
std::optional<int64_t> literal_of(const ExprPtr& e) {
  if (const auto v = as_int(e)) return v;
  if (const auto* u = e->as<USub>())
    if (const auto v = as_int(u->arg)) return -*v;
  return std::nullopt;
}

/// A comparison of forms that differ by a constant: compilers warn of code that says `n < n`.
std::optional<bool> decided_comparison(const BinOp& b) {
  if (!is_comparison(b.op) || !is_integer_control(b.lhs->type)) return std::nullopt;
  const auto x = affine(b.lhs), y = affine(b.rhs);
  if (!x || !y) return std::nullopt;
  const Affine d = *x - *y;
  if (!d.is_constant()) return std::nullopt;
  switch (b.op) {
    case BinOpKind::kLt:
      return d.constant < 0;
    case BinOpKind::kGt:
      return d.constant > 0;
    case BinOpKind::kLe:
      return d.constant <= 0;
    case BinOpKind::kGe:
      return d.constant >= 0;
    case BinOpKind::kEq:
      return d.constant == 0;
    case BinOpKind::kNe:
      return d.constant != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Text FunctionEmitter::control(const ExprPtr& e) {
  if (const auto* r = e->as<Read>()) return {names_.of(r->name), Text::kPrimary};
  if (const auto* k = e->as<Const>()) {
    if (const auto* b = std::get_if<bool>(&k->value))
      return {*b ? "true" : "false", Text::kPrimary};
    if (const auto* i = std::get_if<int64_t>(&k->value)) return integer_text(*i);
  }
  if (const auto* u = e->as<USub>()) {
    if (const auto v = literal_of(e)) return integer_text(*v);
    return {"-" + c(u->arg, Text::kPrimary), Text::kUnary};
  }
  if (const auto* n = e->as<Not>()) return {"!" + c(n->arg, Text::kPrimary), Text::kUnary};
  if (const auto* s = e->as<StrideExpr>()) {
    const Storage& st = storage(s->name, e->where);
    if (s->dim < 0 || s->dim >= static_cast<int>(st.strides.size()))
      throw InputError(e->where, "`" + str(e) + "` has no value in C: `" + s->name.name() +
                                     "` has no strides there");
    return stride_text(st.strides[static_cast<size_t>(s->dim)]);
  }
  if (const auto* k = e->as<ReadConfig>())
    return {config_field(*k->config, k->field, e->where), Text::kPrimary};
  if (const auto* b = e->as<BinOp>()) {
    if (const auto known = decided_comparison(*b))
      return {*known ? "true" : "false", Text::kPrimary};
    // Constants are folded so that the C reads as a person would write it; compilers fold more.
    const auto x = literal_of(b->lhs), y = literal_of(b->rhs);
    int64_t folded = 0;
    auto binary = [&](const char* op, int precedence, int left, int right) {
      return Text{c(b->lhs, left) + " " + op + " " + c(b->rhs, right), precedence};
    };
    switch (b->op) {
      // What overflows is not folded, and would be no shorter as a number.
      case BinOpKind::kAdd: {
        if (x && y && !__builtin_add_overflow(*x, *y, &folded)) return integer_text(folded);
        const Text left = control(b->lhs), right = control(b->rhs);
        if (left.s == "0") return right;
        if (right.s == "0") return left;
        return {left.in(Text::kAdd) + " + " + right.in(Text::kAdd), Text::kAdd};
      }
      case BinOpKind::kSub:
        if (x && y && !__builtin_sub_overflow(*x, *y, &folded)) return integer_text(folded);
        if (y == 0) return control(b->lhs);
        // a - (b + c) keeps its parentheses: the right operand binds tighter.
        return binary("-", Text::kAdd, Text::kAdd, Text::kMul);
      case BinOpKind::kMul: {
        if (x && y && !__builtin_mul_overflow(*x, *y, &folded)) return integer_text(folded);
        const Text left = control(b->lhs), right = control(b->rhs);
        if (left.s == "0" || right.s == "0") return integer_text(0);
        if (left.s == "1") return right;
        if (right.s == "1") return left;
        return {left.in(Text::kMul) + " * " + right.in(Text::kUnary), Text::kMul};
      }
      case BinOpKind::kDiv:
      case BinOpKind::kMod:
        return divide(*b);
      // Parentheses around `and` inside `or` keep -Wparentheses quiet.
      case BinOpKind::kAnd:
        return binary("&&", Text::kAnd, Text::kAnd, Text::kAnd);
      case BinOpKind::kOr:
        return binary("||", Text::kOr, Text::kEquality, Text::kEquality);
      case BinOpKind::kLt:
        return binary("<", Text::kRelation, Text::kAdd, Text::kAdd);
      case BinOpKind::kGt:
        return binary(">", Text::kRelation, Text::kAdd, Text::kAdd);
      case BinOpKind::kLe:
        return binary("<=", Text::kRelation, Text::kAdd, Text::kAdd);
      case BinOpKind::kGe:
        return binary(">=", Text::kRelation, Text::kAdd, Text::kAdd);
      case BinOpKind::kEq:
        return binary("==", Text::kEquality, Text::kAdd, Text::kAdd);
      case BinOpKind::kNe:
        return binary("!=", Text::kEquality, Text::kAdd, Text::kAdd);
    }
  }
  throw InputError(e->where, "`" + str(e) + "` is no control expression that C can compute");
}

std::string FunctionEmitter::config_field(const Config& config, const std::string& field,
                                          const SourceLocation& where) {
  if (!config.readable)
    throw InputError(
        where, "`" + config.name + "." + field + "` lives in hardware only: C code cannot reach it",
        "an instruction must read or write it");
  // Every function that reaches configuration gets the context as an argument.
  return "ctxt->" + c_identifier(config.name) + "." + c_identifier(field);
}

Text FunctionEmitter::divide(const BinOp& b) {
  const bool quotient = b.op == BinOpKind::kDiv;
  const auto divisor = literal_of(b.rhs);
  if (!divisor || *divisor <= 0)
    throw InputError(b.rhs->where,
                     "`" + str(b.rhs) + "`: control division needs a positive literal");
  if (*divisor == 1) return quotient ? control(b.lhs) : Text{"0", Text::kPrimary};
  if (const auto v = literal_of(b.lhs)) {
    // Rounded down, as the object language divides.
    const int64_t q = *v / *divisor - (*v % *divisor < 0);
    return integer_text(quotient ? q : *v - q * *divisor);
  }
  // C's / and % agree with it where the dividend is not negative, which is usual and cheap to see;
  // then the prover is asked, and last a helper corrects the sign.
  auto low = lower_bound(b.lhs);
  const bool unseen = !low || *low < 0;
  const Bounds bounds = unseen || quotient ? bounds_of(proc_, path_, b.lhs) : Bounds{};
  if (unseen) low = bounds.lo;
  // Of tiles of which only the last is shorter: processors divide slowly, where they do at all.
  if (quotient && low && *low >= 0 && bounds.hi && *bounds.hi - *divisor < *divisor)
    return {"(int64_t)(" + c(b.lhs, Text::kAdd) + " >= " + integer_literal(*divisor) + " ? 1 : 0)",
            Text::kUnary};
  if (low && *low >= 0)
    return {c(b.lhs, Text::kMul) + (quotient ? " / " : " % ") + integer_literal(*divisor),
            Text::kMul};
  const std::string name = quotient ? "exo_floor_div" : "exo_floor_mod";
  file_.needs.helpers.insert(name);
  return {name + "(" + c(b.lhs) + ", " + integer_literal(*divisor) + ")", Text::kPrimary};
}

std::optional<int64_t> FunctionEmitter::lower_bound(const ExprPtr& e) {
  if (const auto v = literal_of(e)) return v;
  if (const auto* r = e->as<Read>()) {
    // Of iterators and sizes, noted when they were declared.
    const auto it = lower_.find(r->name);
    return it == lower_.end() ? std::nullopt : it->second;
  }
  const auto* b = e->as<BinOp>();
  if (!b) return std::nullopt;
  const auto x = lower_bound(b->lhs), y = lower_bound(b->rhs);
  int64_t v = 0;
  switch (b->op) {
    case BinOpKind::kAdd:
      if (x && y && !__builtin_add_overflow(*x, *y, &v)) return v;
      return std::nullopt;
    case BinOpKind::kSub:
      // A difference of two that vary would need an upper bound.
      if (const auto k = literal_of(b->rhs); k && x && !__builtin_sub_overflow(*x, *k, &v))
        return v;
      return std::nullopt;
    case BinOpKind::kMul:
      if (x && y && *x >= 0 && *y >= 0 && !__builtin_mul_overflow(*x, *y, &v)) return v;
      return std::nullopt;
    case BinOpKind::kDiv:
      if (const auto k = literal_of(b->rhs); k && *k > 0 && x && *x >= 0) return *x / *k;
      return std::nullopt;
    // Remainders are never negative.
    case BinOpKind::kMod:
      return 0;
    default:
      return std::nullopt;
  }
}

Text FunctionEmitter::stride_text(const Stride& s) {
  return s.expr ? control(s.expr) : Text{s.text, Text::kPrimary};
}

}  // namespace exotune::codegen
