#include "core/interp/machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/deadline.h"
// What the nodes do when they run. Every node counts its statement before it does it, so that a
// limit holds whatever the program's shape; data operations are defined here and nowhere else
// (apply), for single elements and for strips.

namespace exotune::interp {

ForNode::ForNode() = default;
ForNode::~ForNode() = default;

void fail(const Machine& m, InterpError::Kind kind, const SourceLocation& where,
          std::string message) {
  Diagnostic d;
  d.where = where;
  d.message = std::string(name_of(kind)) + ": " + message;
  std::string values;
  for (const ForNode* loop : m.active) {
    if (!values.empty()) values += ", ";
    values += loop->name + " = " + std::to_string(m.ints[static_cast<size_t>(loop->slot)]);
  }
  if (!values.empty()) d.notes.push_back("with " + values);
  throw InterpError(kind, std::move(d));
}

// Looking at the clock costs more than a statement, so it is looked at every four million of them.
// `steps_beyond` is what the caller allowed in all.
void allow_steps(Machine& m, int64_t needed) {
  constexpr int64_t kStepsPerLook = 1 << 22;  // some hundredths of a second
  if (m.steps_left + m.steps_beyond < needed)
    fail(m, InterpError::Kind::kSteps, {}, "more statements ran than allowed");
  if (DeadlineScope::current().over())
    fail(m, InterpError::Kind::kSteps, {}, "the time for it is over");
  const int64_t more = std::min(m.steps_beyond, std::max(needed, kStepsPerLook));
  m.steps_left += more;
  m.steps_beyond -= more;
}

void Access::out_of_bounds(Machine& m, const Check& c) const {
  fail(m, InterpError::Kind::kOutOfBounds, where,
       "index " + std::to_string(c.idx.eval(m)) + " of dimension " + std::to_string(c.dim) +
           " of `" + name + "` is not in [0, " + std::to_string(c.extent.eval(m)) + ")");
}

namespace {

// Two's complement, as in the C that is generated: conversions through the exact integer, never
// through float.
int64_t wrap(Rounding r, int64_t v) {
  switch (r) {
    case Rounding::kI8:
      return static_cast<int8_t>(v);
    case Rounding::kUi8:
      return static_cast<uint8_t>(v);
    case Rounding::kI16:
      return static_cast<int16_t>(v);
    case Rounding::kUi16:
      return static_cast<uint16_t>(v);
    case Rounding::kI32:
      return static_cast<int32_t>(v);
    case Rounding::kNone:
    case Rounding::kF32:
    case Rounding::kF16:
    case Rounding::kBf16:
      break;
  }
  return v;
}

// Operands fit in 32 bits, so nothing here overflows 64 but for -x and products, which do not
// either: 2^31 * 2^31 < 2^63. y != 0 is the caller's check; -2^31 / -1 is 2^31, which wraps.
double apply_integer(DataOp op, Rounding r, double a, double b) {
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  int64_t v = 0;
  switch (op) {
    case DataOp::kAdd:
      v = x + y;
      break;
    case DataOp::kSub:
      v = x - y;
      break;
    case DataOp::kMul:
      v = x * y;
      break;
    case DataOp::kDiv:
      v = x / y;
      break;
    case DataOp::kMax:
      v = x < y ? y : x;
      break;
    case DataOp::kMin:
      v = y < x ? y : x;
      break;
    case DataOp::kNeg:
      v = -x;
      break;
    case DataOp::kRelu:
      v = x > 0 ? x : 0;
      break;
    case DataOp::kAbs:
      v = x < 0 ? -x : x;
      break;
    default:
      break;  // refused when compiled
  }
  return static_cast<double>(wrap(r, v));
}

// Made for float and double: f32 operations are done in float, as the C does, not in double and
// rounded after; the two differ for functions of two roundings.
template <class T>
T apply_float(DataOp op, T a, T b) {
  switch (op) {
    case DataOp::kAdd:
      return a + b;
    case DataOp::kSub:
      return a - b;
    case DataOp::kMul:
      return a * b;
    case DataOp::kDiv:
      return a / b;
    case DataOp::kMax:
      // The order of arguments is that of vector instructions (a < b ? b : a): it decides what
      // happens to zeros of either sign.
      return a < b ? b : a;
    case DataOp::kMin:
      return b < a ? b : a;
    case DataOp::kNeg:
      return -a;
    case DataOp::kRelu:
      return a > 0 ? a : T{0};
    case DataOp::kAbs:
      return std::fabs(a);
    case DataOp::kSqrt:
      return std::sqrt(a);
    case DataOp::kCbrt:
      return std::cbrt(a);
    case DataOp::kHypot:
      return std::hypot(a, b);
    case DataOp::kExp:
      return std::exp(a);
    case DataOp::kExp2:
      return std::exp2(a);
    case DataOp::kExpm1:
      return std::expm1(a);
    case DataOp::kLog:
      return std::log(a);
    case DataOp::kLog2:
      return std::log2(a);
    case DataOp::kLog10:
      return std::log10(a);
    case DataOp::kLog1p:
      return std::log1p(a);
    case DataOp::kPow:
      return std::pow(a, b);
    case DataOp::kSin:
      return std::sin(a);
    case DataOp::kCos:
      return std::cos(a);
    case DataOp::kTan:
      return std::tan(a);
    case DataOp::kAsin:
      return std::asin(a);
    case DataOp::kAcos:
      return std::acos(a);
    case DataOp::kAtan:
      return std::atan(a);
    case DataOp::kAtan2:
      return std::atan2(a, b);
    case DataOp::kSinh:
      return std::sinh(a);
    case DataOp::kCosh:
      return std::cosh(a);
    case DataOp::kTanh:
      return std::tanh(a);
    case DataOp::kErf:
      return std::erf(a);
    case DataOp::kFloor:
      return std::floor(a);
    case DataOp::kCeil:
      return std::ceil(a);
    case DataOp::kTrunc:
      return std::trunc(a);
    case DataOp::kRound:
      return std::round(a);
    case DataOp::kRint:
      return std::nearbyint(a);
    case DataOp::kFmod:
      return std::fmod(a, b);
    case DataOp::kSigmoid:
      return T{1} / (T{1} + std::exp(-a));
  }
  return a;
}

}  // namespace

double round_value(Rounding r, double v) {
  switch (r) {
    case Rounding::kNone:
      return v;
    case Rounding::kF32:
      return static_cast<float>(v);
    case Rounding::kF16:
      return round_to(ScalarType::kF16, v);
    case Rounding::kBf16:
      return round_to(ScalarType::kBf16, v);
    case Rounding::kI8:
      return round_to(ScalarType::kI8, v);
    case Rounding::kUi8:
      return round_to(ScalarType::kUi8, v);
    case Rounding::kI16:
      return round_to(ScalarType::kI16, v);
    case Rounding::kUi16:
      return round_to(ScalarType::kUi16, v);
    case Rounding::kI32:
      return round_to(ScalarType::kI32, v);
  }
  return v;
}

double apply(DataOp op, Rounding r, double a, double b) {
  if (r == Rounding::kNone) return apply_float<double>(op, a, b);
  if (r == Rounding::kF32)
    return apply_float<float>(op, static_cast<float>(a), static_cast<float>(b));
  return apply_integer(op, r, a, b);
}

// --- data
// -----------------------------------------------------------------------------------------
// Poison becomes 0 for the arithmetic and a flag for the statement: arithmetic on the NaN itself
// would lose its payload, and comparisons with it would take branches that mean nothing.
double LoadData::eval(Machine& m) const {
  const double v = *access.locate(m);
  if (is_poison(v)) {
    if (m.poison == PoisonPolicy::kError)
      fail(m, InterpError::Kind::kPoison, access.where,
           "`" + access.name + "` is read before it is written");
    m.poisoned = true;
    return 0;
  }
  return v;
}

// An integer divided by an uninitialised value is no division by zero: the result is poison, not an
// error.
double OpData::eval(Machine& m) const {
  const double x = a->eval(m);
  const double y = b ? b->eval(m) : 0;
  if (op == DataOp::kDiv && rounding >= Rounding::kI8 && y == 0) {
    if (m.poisoned) return 0;
    fail(m, InterpError::Kind::kDivision, where, "integer data is divided by zero");
  }
  return apply(op, rounding, x, y);
}

double CastData::convert(Rounding r, int64_t v) {
  if (r == Rounding::kF32) return static_cast<float>(v);
  if (r == Rounding::kNone) return static_cast<double>(v);
  return static_cast<double>(wrap(r, v));
}

double SelectData::eval(Machine& m) const {
  return a->eval(m) < b->eval(m) ? c->eval(m) : d->eval(m);
}

double ConfigData::eval(Machine& m) const {
  const ConfigSlot& c = m.config[static_cast<size_t>(slot)];
  if (!c.present) fail(m, InterpError::Kind::kConfig, where, "`" + name + "` is read");
  if (is_poison(c.data)) {
    if (m.poison == PoisonPolicy::kError)
      fail(m, InterpError::Kind::kPoison, where, "`" + name + "` holds an uninitialised value");
    m.poisoned = true;
    return 0;
  }
  return c.data;
}

// --- statements
// -----------------------------------------------------------------------------------
DataOp combining(StoreOp op) {
  switch (op) {
    case StoreOp::kMax:
      return DataOp::kMax;
    case StoreOp::kMin:
      return DataOp::kMin;
    case StoreOp::kAdd:
    case StoreOp::kAssign:
      break;
  }
  return DataOp::kAdd;
}

// Reads, then the place, then the old value. A reduction into poison stays poison: no error unless
// the policy asks for one, since whole vectors are reduced where some lanes are wanted.
void StoreNode::exec(Machine& m) const {
  if (--m.steps_left < 0) allow_steps(m);
  m.poisoned = false;
  double v = rhs->eval(m);
  double* at = target.locate(m);
  if (op != StoreOp::kAssign) {
    const double old = *at;
    if (is_poison(old)) {
      if (m.poison == PoisonPolicy::kError)
        fail(m, InterpError::Kind::kPoison, target.where,
             "`" + target.name + "` is reduced into before it is written");
      return;  // stays poison
    }
    // The right side is rounded to the arithmetic's type first, as C converts it before the
    // operation.
    v = apply(combining(op), arithmetic, old, round_value(arithmetic, v));
  }
  *at = m.poisoned ? poison_value() : round_value(storage, v);
}

// The whole strip or nothing: run() looks at this entry's bounds and aliases, and does nothing when
// it says no. The loop is active only for messages.
void ForNode::exec(Machine& m) const {
  const int64_t from = lo.eval(m), to = hi.eval(m);
  if (from >= to) return;
  if (strip && strip->run(m, *this, from, to)) return;
  m.active.push_back(this);
  for (int64_t i = from; i < to; ++i) {
    m.ints[static_cast<size_t>(slot)] = i;
    if (--m.steps_left < 0) allow_steps(m);
    exec_all(body, m);
  }
  m.active.pop_back();
}

void IfNode::exec(Machine& m) const { exec_all(cond.eval(m) ? body : orelse, m); }

void LetNode::exec(Machine& m) const { m.ints[static_cast<size_t>(slot)] = value.eval(m); }

void RequireNode::exec(Machine& m) const {
  if (cond.eval(m)) return;
  fail(m, kind, where, has_shown ? message + std::to_string(shown.eval(m)) : message);
}

void AllocNode::exec(Machine& m) const {
  if (--m.steps_left < 0) allow_steps(m);
  int64_t n = 1;
  for (const IntVal& s : shape) {
    const int64_t extent = s.eval(m);
    if (extent <= 0)
      fail(m, InterpError::Kind::kSize, where,
           "`" + name + "` is allocated with extent " + std::to_string(extent));
    n *= extent;
  }
  storage.assign(static_cast<size_t>(n), poison_value());
  m.bases[static_cast<size_t>(base)] = storage.data();
}

void ConfigStoreNode::exec(Machine& m) const {
  if (--m.steps_left < 0) allow_steps(m);
  ConfigSlot& c = m.config[static_cast<size_t>(slot)];
  if (data) {
    m.poisoned = false;
    const double v = data->eval(m);
    c.data = m.poisoned ? poison_value() : round_value(storage, v);
  } else {
    c.integer = control.eval(m);
  }
  c.present = true;
}

// A scalar formal that was given an expression: callers cannot see writes to it, which the checker
// refuses anyway.
void TemporaryNode::exec(Machine& m) const {
  m.poisoned = false;
  const double v = value->eval(m);
  cell = m.poisoned ? poison_value() : round_value(storage, v);
  m.bases[static_cast<size_t>(base)] = &cell;
}

}  // namespace exotune::interp
