// Data expressions. Their C computes what core/interp says in rounded mode: f16 and bf16 in f32,
// integer operations wrapped to their type after each step (signed overflow is never left to C).
#include <charconv>
#include <cmath>
#include <limits>

#include "core/codegen/function_emitter.h"
#include "core/ir/functions.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune::codegen {
namespace {

template <class T>
// The fewest digits that read back as the same number; "1" becomes "1.0", so that C's arithmetic is
// floating.
std::string shortest(T v) {
  char buffer[64];
  std::string s(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

int64_t wrap(ScalarType t, double v) {
  const auto i = std::fabs(v) < 9.2e18 ? static_cast<int64_t>(v) : 0;
  switch (t) {
    case ScalarType::kI8:
      return static_cast<int8_t>(i);
    case ScalarType::kUi8:
      return static_cast<uint8_t>(i);
    case ScalarType::kI16:
      return static_cast<int16_t>(i);
    case ScalarType::kUi16:
      return static_cast<uint16_t>(i);
    default:
      return static_cast<int32_t>(i);
  }
}

// Sums, differences and products: those that may be done modulo 2^32 and wrapped once in the end.
bool is_ring(BinOpKind op) {
  return op == BinOpKind::kAdd || op == BinOpKind::kSub || op == BinOpKind::kMul;
}

}  // namespace

ScalarType decided(ScalarType t) { return t == ScalarType::kR ? ScalarType::kF32 : t; }

ScalarType arithmetic_type(ScalarType t) {
  t = decided(t);
  return t == ScalarType::kF16 || t == ScalarType::kBf16 ? ScalarType::kF32 : t;
}

std::string element_c_type(ScalarType t) {
  if (t == ScalarType::kF16 || t == ScalarType::kBf16) return "uint16_t";
  return c_name_of(decided(t));
}

std::string FunctionEmitter::helper(const std::string& op, ScalarType type) {
  const std::string name = "exo_" + op + "_" + name_of(arithmetic_type(type));
  file_.needs.helpers.insert(name);
  return name;
}

Text FunctionEmitter::literal(const Const& c, ScalarType type) {
  double v = 0;
  if (const auto* i = std::get_if<int64_t>(&c.value)) v = static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&c.value)) v = *d;
  type = arithmetic_type(type);
  if (!is_float(type)) {
    const int64_t i = wrap(type, v);
    if (i == std::numeric_limits<int32_t>::min()) return {"(-2147483647 - 1)", Text::kPrimary};
    return {std::to_string(i), i < 0 ? Text::kUnary : Text::kPrimary};
  }
  const bool single = type == ScalarType::kF32;
  if (single) v = static_cast<float>(v);
  if (!std::isfinite(v)) {
    file_.needs.math = true;
    const std::string name = std::isnan(v) ? "NAN" : "INFINITY";
    return {v < 0 ? "-" + name : name, v < 0 ? Text::kUnary : Text::kPrimary};
  }
  const std::string s = single ? shortest(static_cast<float>(v)) + "f" : shortest(v);
  return {s, s[0] == '-' ? Text::kUnary : Text::kPrimary};
}

/// A value computed in `from`'s arithmetic type as one of `to`'s.
Text FunctionEmitter::converted(Text value, ScalarType from, ScalarType to) {
  from = arithmetic_type(from);
  to = arithmetic_type(to);
  if (from == to) return value;
  std::string cast = "(" + element_c_type(to) + ")";
  // Float to a narrow integer is undefined in C beyond its range; through int64_t it wraps.
  if (is_float(from) && !is_float(to)) cast += "(int64_t)";
  return {cast + value.in(Text::kUnary), Text::kUnary};
}

Text FunctionEmitter::load(Sym name, const std::vector<ExprPtr>& idx, ScalarType type,
                           const SourceLocation& where) {
  const Storage& s = storage(name, where);
  Text value;
  if (s.form == Storage::Form::kOpaque) {
    value = {expand_memory(s, "read", idx, "", where), Text::kPrimary};
  } else {
    value = {element(s, idx), s.form == Storage::Form::kPointer ? Text::kUnary : Text::kPrimary};
  }
  if (s.type == ScalarType::kF16 || s.type == ScalarType::kBf16) {
    const std::string fn = std::string("exo_") + name_of(s.type) + "_to_f32";
    file_.needs.helpers.insert(fn);
    value = {fn + "(" + value.s + ")", Text::kPrimary};
  }
  return converted(value, s.type, type);
}

// The context's type matters for literals and casts only; all else has a type of its own.
Text FunctionEmitter::data(const ExprPtr& e, ScalarType context) {
  const ScalarType type = precision_in(e, context);
  Text t;
  if (const auto* k = e->as<Const>()) {
    return literal(*k, context);
  } else if (const auto* r = e->as<Read>()) {
    return load(r->name, r->idx, context, e->where);
  } else if (const auto* field = e->as<ReadConfig>()) {
    t = {config_field(*field->config, field->field, e->where), Text::kPrimary};
    const ScalarType stored = field->config->find(field->field)->type;
    if (stored == ScalarType::kF16 || stored == ScalarType::kBf16) {
      const std::string fn = std::string("exo_") + name_of(stored) + "_to_f32";
      file_.needs.helpers.insert(fn);
      t = {fn + "(" + t.s + ")", Text::kPrimary};
    }
    return converted(t, stored, context);
  } else if (const auto* u = e->as<USub>()) {
    const ScalarType a = arithmetic_type(type);
    if (a == ScalarType::kI32) {
      t = {"(int32_t)(0u - " + unsigned_i32(u->arg).in(Text::kMul) + ")", Text::kUnary};
    } else if (!is_float(a)) {
      t = {"(" + element_c_type(a) + ")(-" + data(u->arg, type).in(Text::kPrimary) + ")",
           Text::kUnary};
    } else {
      t = {"-" + data(u->arg, type).in(Text::kPrimary), Text::kUnary};
    }
  } else if (const auto* b = e->as<BinOp>()) {
    t = arithmetic(b->op, b->lhs, b->rhs, type);
  } else if (const auto* x = e->as<Extern>()) {
    t = extern_call(*x, type, e->where);
  } else if (const auto* cast = e->as<Cast>()) {
    t = {"(" + element_c_type(arithmetic_type(type)) + ")" + c(cast->arg, Text::kUnary),
         Text::kUnary};
  } else {
    throw InputError(e->where, "`" + str(e) + "` is no data expression that C can compute");
  }
  return converted(t, type, context);
}

// Chains of i32 operations in unsigned arithmetic, converted back once: fewer casts, the same bits.
Text FunctionEmitter::unsigned_i32(const ExprPtr& e) {
  if (const auto* b = e->as<BinOp>();
      b && is_ring(b->op) && precision_in(e, ScalarType::kI32) == ScalarType::kI32) {
    const int p = b->op == BinOpKind::kMul ? Text::kMul : Text::kAdd;
    return {
        unsigned_i32(b->lhs).in(p) + " " + name_of(b->op) + " " + unsigned_i32(b->rhs).in(p + 1),
        p};
  }
  if (const auto* k = e->as<Const>()) {
    const Text t = literal(*k, ScalarType::kI32);
    if (t.precedence == Text::kPrimary && t.s[0] != '(') return {t.s + "u", Text::kPrimary};
  }
  return {"(uint32_t)" + data(e, ScalarType::kI32).in(Text::kUnary), Text::kUnary};
}

// By type: floats as written, wide integers in unsigned arithmetic, narrow ones in int and wrapped
// after each step.
Text FunctionEmitter::arithmetic(BinOpKind op, const ExprPtr& a, const ExprPtr& b,
                                 ScalarType type) {
  const ScalarType t = arithmetic_type(type);
  const bool multiplies = op == BinOpKind::kMul || op == BinOpKind::kDiv;
  if (!is_ring(op) && op != BinOpKind::kDiv)
    throw InputError(a->where, std::string("`") + name_of(op) + "` on data has no meaning in C");
  const int p = multiplies ? Text::kMul : Text::kAdd;
  auto plain = [&](const std::string& cast_left = "") {
    // Left-associative as written: C must not reassociate floats either.
    const std::string x =
        cast_left.empty() ? data(a, type).in(p) : cast_left + data(a, type).in(Text::kUnary);
    return x + " " + name_of(op) + " " + data(b, type).in(p + 1);
  };
  if (is_float(t)) return {plain(), p};
  if (op == BinOpKind::kDiv) {
    const std::string wide = t == ScalarType::kI32 ? "(int64_t)" : "";  // INT32_MIN / -1
    return {"(" + element_c_type(t) + ")(" + plain(wide) + ")", Text::kUnary};
  }
  if (t == ScalarType::kI32) {
    const int q = op == BinOpKind::kMul ? Text::kMul : Text::kAdd;
    return {"(int32_t)(" + unsigned_i32(a).in(q) + " " + name_of(op) + " " +
                unsigned_i32(b).in(q + 1) + ")",
            Text::kUnary};
  }
  // Narrow types compute in int, which holds every result but ui16 * ui16.
  const bool wide = t == ScalarType::kUi16 && op == BinOpKind::kMul;
  return {"(" + element_c_type(t) + ")(" + plain(wide ? "(uint32_t)" : "") + ")", Text::kUnary};
}

// From math.h with the type's suffix; minima and maxima as the vector instructions have them.
Text FunctionEmitter::extern_call(const Extern& x, ScalarType type, const SourceLocation& where) {
  const ScalarType t = arithmetic_type(type);
  const Function* function = find_function(x.fn);
  if (!function) throw InputError(where, "the extern `" + x.fn + "` has no C");
  if (x.args.size() != static_cast<size_t>(function->arity))
    throw InputError(where,
                     "`" + x.fn + "` takes " + std::to_string(function->arity) + " arguments");
  if (!is_float(t) && !function->on_integers)
    throw InputError(where, "`" + x.fn + "` on " + name_of(t) + " has no C");
  if (x.fn == "select") {
    const ScalarType compared = precision_in(x.args[0], precision_in(x.args[1], type));
    return {data(x.args[0], compared).in(Text::kAdd) + " < " +
                data(x.args[1], compared).in(Text::kAdd) + " ? " +
                data(x.args[2], type).in(Text::kOr) + " : " + data(x.args[3], type).in(Text::kOr),
            Text::kTernary};
  }
  if (x.fn == "fmax" || x.fn == "fmin") {
    return {helper(x.fn == "fmax" ? "max" : "min", t) + "(" + data(x.args[0], type).s + ", " +
                data(x.args[1], type).s + ")",
            Text::kPrimary};
  }
  std::string args = data(x.args[0], type).s;
  for (size_t k = 1; k < x.args.size(); ++k) args += ", " + data(x.args[k], type).s;
  if (x.fn == "relu") return {helper("relu", t) + "(" + args + ")", Text::kPrimary};
  if (x.fn == "fabs" && !is_float(t)) return {helper("abs", t) + "(" + args + ")", Text::kPrimary};
  file_.needs.math = true;
  if (x.fn == "sigmoid") return {helper("sigmoid", t) + "(" + args + ")", Text::kPrimary};
  EXO_CHECK(function->in_math_h);
  return {x.fn + (t == ScalarType::kF32 ? "f" : "") + "(" + args + ")", Text::kPrimary};
}

}  // namespace exotune::codegen
