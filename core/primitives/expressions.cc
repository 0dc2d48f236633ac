// Expressions rewritten where they stand.
#include <cmath>

#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/value_range.h"

namespace exotune {

using namespace internal;

ProcPtr commute_expr(ProcPtr p, const Where& where) {
  static const char op[] = "commute_expr";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  ExprPtr swapped;
  if (const BinOp* b = e->as<BinOp>()) {
    switch (b->op) {
      case BinOpKind::kAdd:
      case BinOpKind::kMul:
      case BinOpKind::kAnd:
      case BinOpKind::kOr:
      case BinOpKind::kEq:
      case BinOpKind::kNe:
        swapped = make_expr(BinOp{b->op, b->rhs, b->lhs}, e->type, e->where);
        break;
      default:
        break;
    }
  } else if (const Extern* x = e->as<Extern>(); x && (x->fn == "fmax" || x->fn == "fmin")) {
    swapped = make_expr(Extern{x->fn, {x->args[1], x->args[0]}}, e->type, e->where);
  }
  if (!swapped) refuse(op, "'" + str(e) + "' is no commutative operation");
  Rewrite rw(p);
  rw.replace_expr(c.path(), swapped);
  return rw.finish(op, {place(where, c)});
}

ProcPtr left_reassociate_expr(ProcPtr p, const Where& where) {
  static const char op[] = "left_reassociate_expr";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  const BinOp* outer = e->as<BinOp>();
  const BinOp* inner = outer ? outer->rhs->as<BinOp>() : nullptr;
  const bool sums = inner && outer->op == BinOpKind::kAdd &&
                    (inner->op == BinOpKind::kAdd || inner->op == BinOpKind::kSub);
  if (!sums && !(inner && outer->op == BinOpKind::kMul && inner->op == BinOpKind::kMul))
    refuse(op, "'" + str(e) + "' is not of the form a + (b + c), a + (b - c) or a * (b * c)");
  if (is_control(e->type) && outer->op == BinOpKind::kMul)
    refuse(op, "control products keep their literal side");
  Rewrite rw(p);
  rw.flags.reassociates = is_data(e->type) && is_float(e->type);
  rw.replace_expr(c.path(),
                  bin_op(inner->op, bin_op(outer->op, outer->lhs, inner->lhs), inner->rhs));
  return rw.finish(op, {place(where, c)});
}

ProcPtr negate_factor(ProcPtr p, const Where& where) {
  static const char op[] = "negate_factor";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  const USub* minus = e->as<USub>();
  const BinOp* product = minus ? minus->arg->as<BinOp>() : nullptr;
  if (!product || product->op != BinOpKind::kMul || !is_data(e->type))
    refuse(op, "'" + str(e) + "' is no negative product of data");
  // The least integer has no opposite.
  if (!is_float(e->type)) refuse(op, "an integer may have no opposite: '" + str(e) + "'");
  Rewrite rw(p);
  rw.replace_expr(
      c.path(), bin_op(BinOpKind::kMul, make_expr(USub{product->lhs}, product->lhs->type, e->where),
                       product->rhs));
  return rw.finish(op, {place(where, c)});
}

ProcPtr shift_factor(ProcPtr p, const Where& where, int64_t by) {
  static const char op[] = "shift_factor";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  const BinOp* product = e->as<BinOp>();
  if (!product || product->op != BinOpKind::kMul || !is_data(e->type))
    refuse(op, "'" + str(e) + "' is no product of data");
  // In floating-point numbers the sum would swallow the factor.
  const std::optional<ValueRange> all = values_of(e->type);
  if (!all) refuse(op, "'" + str(e) + "' is no product of integers");
  // First as it is: the least int64_t has no opposite.
  if (!all->holds({by, by}) || !all->holds({-by, -by}))
    refuse(op, std::to_string(by) + " or its opposite is no `" + name_of(e->type) + "`",
           "a shift of " + std::to_string(-all->hi) + " to " + std::to_string(all->hi));
  const ExprPtr shift = data_const(static_cast<double>(by), e->type);
  Rewrite rw(p);
  rw.replace_expr(c.path(), (product->lhs + shift) * product->rhs +
                                data_const(-1, e->type) * (shift * product->rhs));
  return rw.finish(op, {place(where, c), by});
}

ProcPtr multiply_by_reciprocal(ProcPtr p, const Where& where) {
  static const char op[] = "multiply_by_reciprocal";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  const BinOp* quotient = e->as<BinOp>();
  if (!quotient || quotient->op != BinOpKind::kDiv || !is_data(e->type))
    refuse(op, "'" + str(e) + "' is no quotient of data");
  if (!is_float(e->type)) refuse(op, "an integer has no reciprocal: '" + str(e) + "'");
  Rewrite rw(p);
  rw.flags.reassociates = true;
  const ExprPtr one = data_const(1, e->type);
  rw.replace_expr(c.path(), bin_op(BinOpKind::kMul, quotient->lhs,
                                   bin_op(BinOpKind::kDiv, one, quotient->rhs)));
  return rw.finish(op, {place(where, c)});
}

namespace {

// What a literal says, a negative one too.
std::optional<double> real_literal(const ExprPtr& e) {
  if (const USub* minus = e->as<USub>()) {
    const std::optional<double> of = real_literal(minus->arg);
    return of ? std::optional(-*of) : std::nullopt;
  }
  const Const* c = e->as<Const>();
  if (!c) return std::nullopt;
  if (const int64_t* whole = std::get_if<int64_t>(&c->value)) return static_cast<double>(*whole);
  const double* real = std::get_if<double>(&c->value);
  return real ? std::optional(*real) : std::nullopt;
}

constexpr double kMostPower = 64;  // ten products for 63; what is beyond is rounded often, and rare

// The power of x nearer to products by one step; nothing: it has none.
ExprPtr nearer_to_products(const ExprPtr& x, double n, ScalarType t) {
  const auto call = [&](const char* f, std::vector<ExprPtr> args) {
    return make_expr(Extern{f, std::move(args)}, t, {});
  };
  const auto power = [&](const ExprPtr& of, double to) {
    if (to == 0) return data_const(1, t);
    return to == 1 ? of : call("pow", {of, data_const(to, t)});
  };
  const auto times = [](const ExprPtr& a, const ExprPtr& b) {
    return bin_op(BinOpKind::kMul, a, b);
  };
  const auto reciprocal = [&](const ExprPtr& of) {
    return bin_op(BinOpKind::kDiv, data_const(1, t), of);
  };
  if (!(std::fabs(n) <= kMostPower) || 2 * n != std::rint(2 * n)) return nullptr;
  const double whole = std::floor(std::fabs(n));
  if (whole != std::fabs(n)) {
    const ExprPtr root = call("sqrt", {x});
    if (n < 0) return power(reciprocal(root), 2 * whole + 1);
    return whole == 0 ? root : times(power(x, whole), root);
  }
  if (n < 0) return reciprocal(power(x, whole));
  if (n < 2) return power(x, n);
  const double half = std::floor(n / 2);
  const ExprPtr even = power(times(x, x), half);
  return n == 2 * half ? even : times(even, x);
}

}  // namespace

ProcPtr expand_power(ProcPtr p, const Where& where) {
  static const char op[] = "expand_power";
  Cursor c = where.expr(p);
  const ExprPtr e = c.expr();
  const Extern* power = e->as<Extern>();
  if (!power || power->fn != "pow") refuse(op, "'" + str(e) + "' is no power");
  if (!is_float(e->type)) refuse(op, "integers are raised by no products: '" + str(e) + "'");
  const std::optional<double> exponent = real_literal(power->args[1]);
  ExprPtr with;
  if (exponent)
    with = nearer_to_products(power->args[0], *exponent, e->type);
  else if (real_literal(power->args[0]) == 2.0)
    with = make_expr(Extern{"exp2", {power->args[1]}}, e->type, e->where);
  if (!with)
    refuse(op, "'" + str(e) + "' has no whole or half exponent that the program says, up to 64");
  Rewrite rw(p);
  rw.flags.reassociates = true;
  rw.replace_expr(c.path(), with);
  return rw.finish(op, {place(where, c)});
}

namespace {

// Control arithmetic stays quasi-affine: a product keeps a literal side, a divisor stays one, and
// what configuration is set to is free of iterators.
void require_affine_around(const Proc& p, const Path& path, const ExprPtr& with, const char* op) {
  const Path at = stmt_part(path);
  if (stmt_at(p, at)->as<WriteConfig>())
    for (const ScopeEntry& s : scope_at(p, at))
      if (s.type.scalar == ScalarType::kIndex && !p.find_arg(s.name) && mentions(with, s.name))
        refuse(op, "configuration may not depend on the iterator '" + s.name.name() + "'");
  Path up = path;
  up.pop_back();
  if (up.size() == at.size()) return;
  const ExprPtr parent = expr_at(p, up);
  const BinOp* b = parent->as<BinOp>();
  if (!b || !is_integer_control(parent->type)) return;
  const ExprPtr& other = path.back().index == 0 ? b->rhs : b->lhs;
  const bool divides = b->op == BinOpKind::kDiv || b->op == BinOpKind::kMod;
  if (divides && path.back().index == 1 && as_int(with).value_or(0) < 1)
    refuse(op, "a divisor must stay a positive literal");
  if (b->op == BinOpKind::kMul && !as_int(with) && !as_int(other))
    refuse(op, "a product must keep a literal side");
}

}  // namespace

ProcPtr rewrite_expr(ProcPtr p, const Where& where, const ExprPtr& with) {
  static const char op[] = "rewrite_expr";
  Cursor c = where.expr(p);
  const Path at = stmt_part(c.path());
  require_visible(*p, at, with, op);
  require_affine_around(*p, c.path(), with, op);
  require(equal_in_context(*p, at, c.expr(), with), op,
          "cannot prove that " + str(c.expr()) + " equals " + str(with));
  Rewrite rw(p);
  rw.replace_expr(c.path(), with);
  require_config_writes_fixed(rw.proc(), op);
  require_still_checks(rw.proc(), {stmt_at(rw.proc(), at)}, op);
  return rw.finish(op, {place(where, c), str(with, scope_at(*p, stmt_part(c.path())))});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> expressions_operators() {
  using namespace params;
  return {
      {"commute_expr",
       {proc(), places("exprs")},
       "a * b  ->  b * a",
       [](const OperatorArgs& a) -> Value {
         ProcPtr p = a.proc();
         for (const Where& w : a.places(1)) p = commute_expr(p, w);
         return p;
       }},
      {"left_reassociate_expr",
       {proc(), place("expr")},
       "a + (b + c)  ->  (a + b) + c",
       [](const OperatorArgs& a) -> Value { return left_reassociate_expr(a.proc(), a.where(1)); }},
      {"multiply_by_reciprocal",
       {proc(), place("expr")},
       "a / b  ->  a * (1.0 / b)",
       [](const OperatorArgs& a) -> Value { return multiply_by_reciprocal(a.proc(), a.where(1)); }},
      {"expand_power",
       {proc(), place("expr")},
       "pow(x, 2 n)  ->  pow(x * x, n), and so on down to products, roots and quotients",
       [](const OperatorArgs& a) -> Value { return expand_power(a.proc(), a.where(1)); }},
      {"negate_factor",
       {proc(), place("expr")},
       "-(a * b)  ->  -a * b",
       [](const OperatorArgs& a) -> Value { return negate_factor(a.proc(), a.where(1)); }},
      {"shift_factor",
       {proc(), place("expr"), integer("by")},
       "a * b  ->  (a + c) * b + -1.0 * (c * b)",
       [](const OperatorArgs& a) -> Value {
         return shift_factor(a.proc(), a.where(1), a.integer(2));
       }},
      {"rewrite_expr",
       {proc(), place("expr"), expression("new_expr")},
       "e  ->  e'   (equal where it stands)",
       [](const OperatorArgs& a) -> Value {
         Cursor e = a.where(1).expr(a.proc());
         return rewrite_expr(a.proc(), e, a.any_expr(2, e.path()));
       }},
  };
}

}  // namespace exotune
