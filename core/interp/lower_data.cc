// Data expressions.
#include <map>

#include "core/interp/lowering.h"
#include "core/ir/functions.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune::interp {
namespace {

std::optional<DataOp> operation_of(const std::string& fn) {
  static const std::map<std::string, DataOp> table = {
      {"fabs", DataOp::kAbs},    {"fmax", DataOp::kMax},        {"fmin", DataOp::kMin},
      {"relu", DataOp::kRelu},   {"sqrt", DataOp::kSqrt},       {"cbrt", DataOp::kCbrt},
      {"hypot", DataOp::kHypot}, {"exp", DataOp::kExp},         {"exp2", DataOp::kExp2},
      {"expm1", DataOp::kExpm1}, {"log", DataOp::kLog},         {"log2", DataOp::kLog2},
      {"log10", DataOp::kLog10}, {"log1p", DataOp::kLog1p},     {"pow", DataOp::kPow},
      {"sin", DataOp::kSin},     {"cos", DataOp::kCos},         {"tan", DataOp::kTan},
      {"asin", DataOp::kAsin},   {"acos", DataOp::kAcos},       {"atan", DataOp::kAtan},
      {"atan2", DataOp::kAtan2}, {"sinh", DataOp::kSinh},       {"cosh", DataOp::kCosh},
      {"tanh", DataOp::kTanh},   {"sigmoid", DataOp::kSigmoid}, {"erf", DataOp::kErf},
      {"floor", DataOp::kFloor}, {"ceil", DataOp::kCeil},       {"trunc", DataOp::kTrunc},
      {"round", DataOp::kRound}, {"rint", DataOp::kRint},       {"fmod", DataOp::kFmod}};
  const auto it = table.find(fn);
  if (it == table.end()) return std::nullopt;
  return it->second;
}

}  // namespace

DataPtr Lowering::data(const ExprPtr& e, ScalarType context, const Env& env) {
  const ScalarType type = precision_in(e, context);
  const Rounding rounding = arithmetic_rounding(type, mode_);
  if (const auto* c = e->as<Const>()) {
    double v = 0;
    if (const auto* i = std::get_if<int64_t>(&c->value))
      v = static_cast<double>(*i);
    else if (const auto* d = std::get_if<double>(&c->value))
      v = *d;
    else
      unsupported(e->where, "a truth value among data");
    // A literal takes the precision of its place, whatever it was written for.
    return std::make_unique<ConstData>(round_value(arithmetic_rounding(context, mode_), v));
  }
  if (const auto* r = e->as<Read>()) {
    auto n = std::make_unique<LoadData>();
    n->access = element(r->name, r->idx, env, e->where);
    return n;
  }
  if (const auto* c = e->as<ReadConfig>()) {
    auto n = std::make_unique<ConfigData>();
    n->slot = config_slot(*c->config, c->field);
    n->name = c->config->name + "." + c->field;
    n->where = e->where;
    return n;
  }
  if (const auto* u = e->as<USub>()) return unary(DataOp::kNeg, u->arg, type, env, e);
  if (const auto* b = e->as<BinOp>()) {
    DataOp o;
    switch (b->op) {
      case BinOpKind::kAdd:
        o = DataOp::kAdd;
        break;
      case BinOpKind::kSub:
        o = DataOp::kSub;
        break;
      case BinOpKind::kMul:
        o = DataOp::kMul;
        break;
      case BinOpKind::kDiv:
        o = DataOp::kDiv;
        break;
      default:
        unsupported(e->where, "`" + std::string(name_of(b->op)) + "` on data");
    }
    return binary(o, b->lhs, b->rhs, type, env, e);
  }
  if (const auto* x = e->as<Extern>()) return call_extern(*x, type, env, e);
  if (const auto* x = e->as<Cast>()) {
    auto n = std::make_unique<CastData>();
    n->value = control(x->arg, env);
    n->rounding = rounding;
    return n;
  }
  unsupported(e->where, "`" + str(e) + "` among data");
}

DataPtr Lowering::unary(DataOp o, const ExprPtr& a, ScalarType type, const Env& env,
                        const ExprPtr& whole) {
  auto n = std::make_unique<OpData>();
  n->op = o;
  n->rounding = arithmetic_rounding(type, mode_);
  n->a = data(a, type, env);
  n->where = whole->where;
  return n;
}

DataPtr Lowering::binary(DataOp o, const ExprPtr& a, const ExprPtr& b, ScalarType type,
                         const Env& env, const ExprPtr& whole) {
  auto n = std::make_unique<OpData>();
  n->op = o;
  n->rounding = arithmetic_rounding(type, mode_);
  n->a = data(a, type, env);
  n->b = data(b, type, env);
  n->where = whole->where;
  return n;
}

DataPtr Lowering::call_extern(const Extern& x, ScalarType type, const Env& env,
                              const ExprPtr& whole) {
  const Function* function = find_function(x.fn);
  if (!function) unsupported(whole->where, "the extern `" + x.fn + "` has no meaning here");
  if (x.args.size() != static_cast<size_t>(function->arity))
    unsupported(whole->where,
                "`" + x.fn + "` takes " + std::to_string(function->arity) + " arguments");
  if (!is_float(type) && !function->on_integers)
    unsupported(whole->where, "`" + str(whole) + "` on an integer type");
  if (x.fn == "select") {
    const ScalarType compared = precision_in(x.args[0], precision_in(x.args[1], type));
    auto n = std::make_unique<SelectData>();
    n->a = data(x.args[0], compared, env);
    n->b = data(x.args[1], compared, env);
    n->c = data(x.args[2], type, env);
    n->d = data(x.args[3], type, env);
    return n;
  }
  const std::optional<DataOp> o = operation_of(x.fn);
  EXO_CHECK(o.has_value());
  return x.args.size() == 1 ? unary(*o, x.args[0], type, env, whole)
                            : binary(*o, x.args[0], x.args[1], type, env, whole);
}

}  // namespace exotune::interp
