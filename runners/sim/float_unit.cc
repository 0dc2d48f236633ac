#include "runners/sim/float_unit.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runners/sim/float_operation.h"

namespace exotune::sim {
// Float operations on the host's own unit, with the guest's rounding and flags: exact where both
// follow IEEE 754, which leaves NaNs (RISC-V has one canonical NaN), minimum and maximum, and
// conversions to integers, done by hand here.

namespace {

using F = FloatOperation;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <class T>
constexpr BitsOf<T> kCanonicalNan = sizeof(T) == 4 ? 0x7fc00000u
                                                   : static_cast<BitsOf<T>>(0x7ff8000000000000ull);
template <class T>
constexpr BitsOf<T> kSign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
template <class T>
constexpr BitsOf<T> kQuiet = BitsOf<T>{1} << (sizeof(T) == 4 ? 22 : 51);

// The compiler neither moves nor folds what passes here: the host's flags and rounding are input
// and output of every operation.
template <class T>
T opaque(T value) {
  asm volatile("" : "+x"(value)::"memory");
  return value;
}

// A register holds 64 bits; an f32 must have all ones above it, or it counts as NaN.
template <class T>
BitsOf<T> unboxed(FloatBits bits) {
  if constexpr (sizeof(T) == 8)
    return bits;
  else
    return bits >> 32 == 0xffffffffu ? static_cast<uint32_t>(bits) : kCanonicalNan<float>;
}
template <class T>
FloatBits to_box(BitsOf<T> bits) {
  if constexpr (sizeof(T) == 8)
    return bits;
  else
    return boxed(bits);
}
template <class T>
bool is_nan(BitsOf<T> bits) {
  return (bits & ~kSign<T>) > std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
}
template <class T>
bool is_signaling(BitsOf<T> bits) {
  return is_nan<T>(bits) && !(bits & kQuiet<T>);
}
template <class T>
FloatBits result(T value) {
  value = opaque(value);
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  return to_box<T>(is_nan<T>(bits) ? kCanonicalNan<T> : bits);
}

int host_rounding(uint32_t mode) {
  constexpr int kModes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  return kModes[mode & 3];
}

// Other rounding than to nearest for one operation.
class Rounding {
 public:
  explicit Rounding(uint32_t mode) : changed_(mode != 0 && mode < 4) {
    if (changed_) std::fesetround(host_rounding(mode));
  }
  ~Rounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }

 private:
  bool changed_;
};

// One rounding: std::fma, also where the host would need a library for it.
template <class T>
FloatBits fused_operation(F op, T a, T b, T c) {
  if (op == F::kMsub || op == F::kNmadd) c = -c;
  if (op == F::kNmsub || op == F::kNmadd) a = -a;
  // Zero times infinity is invalid even when a quiet NaN is added.
  const bool invalid = (std::isinf(a) && b == 0) || (std::isinf(b) && a == 0);
  const T value = opaque(std::fma(opaque(a), opaque(b), opaque(c)));
  if (invalid) std::feraiseexcept(FE_INVALID);
  return result(value);
}

// minimumNumber and maximumNumber of IEEE 754-2019: a NaN gives way to a number, and -0 is below
// +0, where C's fmin may take either.
template <class T>
FloatBits extreme(F op, BitsOf<T> a, BitsOf<T> b) {
  if (is_signaling<T>(a) || is_signaling<T>(b)) std::feraiseexcept(FE_INVALID);
  if (is_nan<T>(a)) return to_box<T>(is_nan<T>(b) ? kCanonicalNan<T> : b);
  if (is_nan<T>(b)) return to_box<T>(a);
  const T x = std::bit_cast<T>(a), y = std::bit_cast<T>(b);
  if (x == y) {  // zeros: the negative one is smaller
    const bool a_negative = a & kSign<T>;
    return to_box<T>((op == F::kMin) == a_negative ? a : b);
  }
  return to_box<T>((x < y) == (op == F::kMin) ? a : b);
}

// Equality is quiet, order is signaling: comparing with any NaN raises invalid for < and <=, for ==
// only with a signaling one.
template <class T>
uint64_t compare(F op, BitsOf<T> a, BitsOf<T> b) {
  if (is_nan<T>(a) || is_nan<T>(b)) {
    if (op != F::kEq || is_signaling<T>(a) || is_signaling<T>(b)) std::feraiseexcept(FE_INVALID);
    return 0;
  }
  const T x = std::bit_cast<T>(a), y = std::bit_cast<T>(b);
  return op == F::kEq ? x == y : op == F::kLt ? x < y : x <= y;
}

// The ten classes of fclass, a bit each.
template <class T>
uint64_t classify(BitsOf<T> bits) {
  const bool negative = bits & kSign<T>;
  const T value = std::bit_cast<T>(bits);
  if (is_nan<T>(bits)) return is_signaling<T>(bits) ? 1 << 8 : 1 << 9;
  if ((bits & ~kSign<T>) == std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity()))
    return negative ? 1 << 0 : 1 << 7;
  if ((bits & ~kSign<T>) == 0) return negative ? 1 << 3 : 1 << 4;
  const bool subnormal =
      (bits & ~kSign<T>) < std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::min());
  (void)value;
  if (subnormal) return negative ? 1 << 2 : 1 << 5;
  return negative ? 1 << 1 : 1 << 6;
}

// Whole numbers of f32 and f64 are exact in f64, so one function rounds for all.
double rounded(double value, uint32_t mode) {
  switch (mode) {
    case 0:
      return std::nearbyint(value);
    case 1:
      return std::trunc(value);
    case 2:
      return std::floor(value);
    case 3:
      return std::ceil(value);
    default:
      return std::round(value);  // ties away from zero
  }
}

// Out of range saturates and raises invalid, without inexact; NaN counts as plus infinity.
template <class I>
uint64_t to_integer(double value, bool nan, uint32_t mode) {
  constexpr I kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  const auto extended = [](I x) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<std::make_signed_t<I>>(x)));
  };
  std::fenv_t before;
  std::fegetenv(&before);  // what the host raises while rounding is none of the program's
  const double whole = rounded(value, mode);
  std::fesetenv(&before);
  const double limit = std::ldexp(1.0, std::numeric_limits<I>::digits);
  if (nan || whole >= limit) {
    std::feraiseexcept(FE_INVALID);
    return extended(kHigh);
  }
  if (whole < static_cast<double>(kLow)) {
    std::feraiseexcept(FE_INVALID);
    return extended(kLow);
  }
  if (whole != value) std::feraiseexcept(FE_INEXACT);
  return extended(static_cast<I>(whole));
}

template <class T>
uint64_t to_integer_of(F op, BitsOf<T> a, uint32_t mode) {
  const bool nan = is_nan<T>(a);
  const double value = nan ? 0 : static_cast<double>(std::bit_cast<T>(a));
  switch (op) {
    case F::kToW:
      return to_integer<int32_t>(value, nan, mode);
    case F::kToWu:
      return to_integer<uint32_t>(value, nan, mode);
    case F::kToL:
      return to_integer<int64_t>(value, nan, mode);
    default:
      return to_integer<uint64_t>(value, nan, mode);
  }
}

template <class T>
FloatBits from_integer(F op, uint64_t x) {
  volatile uint64_t kept = x;
  switch (op) {
    case F::kFromW:
      return result(static_cast<T>(static_cast<int32_t>(kept)));
    case F::kFromWu:
      return result(static_cast<T>(static_cast<uint32_t>(kept)));
    case F::kFromL:
      return result(static_cast<T>(static_cast<int64_t>(kept)));
    default:
      return result(static_cast<T>(static_cast<uint64_t>(kept)));
  }
}

template <class T, class Other>
FloatBits from_other(FloatBits bits) {
  const BitsOf<Other> other = unboxed<Other>(bits);
  if (is_signaling<Other>(other)) std::feraiseexcept(FE_INVALID);
  if (is_nan<Other>(other)) return to_box<T>(kCanonicalNan<T>);
  return result(static_cast<T>(opaque(std::bit_cast<Other>(other))));
}

template <class T>
FloatBits signs(F op, BitsOf<T> a, BitsOf<T> b) {
  const BitsOf<T> sign = op == F::kSgnj ? b : op == F::kSgnjn ? ~b : a ^ b;
  return to_box<T>((a & ~kSign<T>) | (sign & kSign<T>));
}

template <class T>
uint64_t operate_on(F op, FloatBits a_bits, FloatBits b_bits, FloatBits c_bits, uint64_t x,
                    uint32_t mode) {
  const BitsOf<T> a = unboxed<T>(a_bits), b = unboxed<T>(b_bits);
  const auto value = [](BitsOf<T> bits) { return opaque(std::bit_cast<T>(bits)); };
  switch (op) {
    case F::kSgnj:
    case F::kSgnjn:
    case F::kSgnjx:
      return signs<T>(op, a, b);
    case F::kMin:
    case F::kMax:
      return extreme<T>(op, a, b);
    case F::kEq:
    case F::kLt:
    case F::kLe:
      return compare<T>(op, a, b);
    case F::kClass:
      return classify<T>(a);
    case F::kMoveToInt:
      return static_cast<uint64_t>(sizeof(T) == 4 ? static_cast<int32_t>(a_bits)
                                                  : static_cast<int64_t>(a_bits));
    case F::kMoveFromInt:
      return to_box<T>(static_cast<BitsOf<T>>(x));
    case F::kToW:
    case F::kToWu:
    case F::kToL:
    case F::kToLu:
      return to_integer_of<T>(op, a, mode);
    default:
      break;
  }
  const Rounding rounding(mode);
  switch (op) {
    case F::kAdd:
      return result<T>(value(a) + value(b));
    case F::kSub:
      return result<T>(value(a) - value(b));
    case F::kMul:
      return result<T>(value(a) * value(b));
    case F::kDiv:
      return result<T>(value(a) / value(b));
    case F::kSqrt:
      return result<T>(std::sqrt(value(a)));
    case F::kFromW:
    case F::kFromWu:
    case F::kFromL:
    case F::kFromLu:
      return from_integer<T>(op, x);
    case F::kFromOther:
      return from_other<T, std::conditional_t<sizeof(T) == 4, double, float>>(a_bits);
    default:
      return fused_operation<T>(op, value(a), value(b), value(unboxed<T>(c_bits)));
  }
}

// Only these look at the rounding mode: the rest must not pay for changing it.
bool rounds(F op) {
  return op <= F::kNmadd || (op >= F::kFromW && op <= F::kFromOther) ||
         (op >= F::kToW && op <= F::kToLu);
}

}  // namespace

FloatUnit::Session::Session() {
  std::feholdexcept(&host_);
  std::fesetround(FE_TONEAREST);
}

FloatUnit::Session::~Session() { std::fesetenv(&host_); }

FloatUnit::Result FloatUnit::operate(const Instruction& i, FloatBits a, FloatBits b, FloatBits c,
                                     uint64_t x) {
  const F op = static_cast<F>(i.detail & ~kDoubleWidth);
  const uint32_t mode = i.mode == 7 ? mode_ : i.mode;
  const bool to_integer = op >= F::kToW && op <= F::kToLu;
  if (rounds(op) && (mode > 4 || (mode == 4 && !to_integer))) return {0, true};
  if (i.detail & kDoubleWidth) return {operate_on<double>(op, a, b, c, x, mode), false};
  return {operate_on<float>(op, a, b, c, x, mode), false};
}

uint32_t FloatUnit::flags() const {
  const int host = std::fetestexcept(FE_ALL_EXCEPT);
  return (host & FE_INEXACT ? 1u : 0) | (host & FE_UNDERFLOW ? 2u : 0) |
         (host & FE_OVERFLOW ? 4u : 0) | (host & FE_DIVBYZERO ? 8u : 0) |
         (host & FE_INVALID ? 16u : 0);
}

// Not by raising them: raising an overflow or underflow raises inexact too.
void FloatUnit::set_flags(uint32_t flags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  const int host = (flags & 1 ? FE_INEXACT : 0) | (flags & 2 ? FE_UNDERFLOW : 0) |
                   (flags & 4 ? FE_OVERFLOW : 0) | (flags & 8 ? FE_DIVBYZERO : 0) |
                   (flags & 16 ? FE_INVALID : 0);
  const std::fexcept_t all = static_cast<std::fexcept_t>(host);
  std::fesetexceptflag(&all, FE_ALL_EXCEPT);
}

}  // namespace exotune::sim
