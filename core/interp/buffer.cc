#include <bit>
#include <cmath>
#include <cstring>

#include "core/interp/interp.h"

namespace exotune {
namespace {

constexpr uint64_t kPoisonBits = 0x7FF8DEAD0000BEEFull;

int64_t product(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

int64_t flat_index(const Buffer& b, const std::vector<int64_t>& index) {
  EXO_CHECK(index.size() == b.shape.size());
  int64_t at = 0;
  for (size_t k = 0; k < index.size(); ++k) {
    EXO_CHECK(index[k] >= 0 && index[k] < b.shape[k]);
    at = at * b.shape[k] + index[k];
  }
  return at;
}

/// Float to integer conversion that is defined for every value: truncation modulo 2^64.
int64_t to_integer(double v) {
  if (!(std::fabs(v) < 9.2e18)) return 0;
  return static_cast<int64_t>(v);
}

/// Rounds to `mantissa_bits` explicit bits (ties to even) with the exponent range of an IEEE format
/// whose smallest normal exponent is `min_exponent`.
double round_narrow(double v, int mantissa_bits, int min_exponent, double overflow_at) {
  if (!std::isfinite(v) || v == 0) return v;
  int exponent = std::ilogb(v);
  if (exponent < min_exponent) exponent = min_exponent;
  const double ulp = std::ldexp(1.0, exponent - mantissa_bits);
  const double r = std::nearbyint(v / ulp) * ulp;
  if (std::fabs(r) >= overflow_at) return std::copysign(INFINITY, v);
  return r;
}

}  // namespace

double poison_value() { return std::bit_cast<double>(kPoisonBits); }
bool is_poison(double v) { return std::bit_cast<uint64_t>(v) == kPoisonBits; }

double round_to(ScalarType type, double v) {
  if (is_poison(v)) return v;
  switch (type) {
    case ScalarType::kR:
    case ScalarType::kF32:
      return static_cast<double>(static_cast<float>(v));
    case ScalarType::kF64:
      return v;
    // Through f32 first, as the generated C does: its arithmetic is in f32.
    case ScalarType::kF16:
      return round_narrow(static_cast<float>(v), 10, -14, 65520.0);
    case ScalarType::kBf16:
      return round_narrow(static_cast<float>(v), 7, -126, std::ldexp(1.0, 128));
    case ScalarType::kI8:
      return static_cast<int8_t>(to_integer(v));
    case ScalarType::kUi8:
      return static_cast<uint8_t>(to_integer(v));
    case ScalarType::kI16:
      return static_cast<int16_t>(to_integer(v));
    case ScalarType::kUi16:
      return static_cast<uint16_t>(to_integer(v));
    case ScalarType::kI32:
      return static_cast<int32_t>(to_integer(v));
    case ScalarType::kSize:
    case ScalarType::kIndex:
    case ScalarType::kBool:
    case ScalarType::kStride:
      break;
  }
  return v;
}

Buffer::Buffer(ScalarType t, std::vector<int64_t> s) : type(t), shape(std::move(s)) {
  data.assign(static_cast<size_t>(product(shape)), poison_value());
}

Buffer::Buffer(ScalarType t, std::vector<int64_t> s, std::vector<double> d)
    : type(t), shape(std::move(s)), data(std::move(d)) {
  EXO_CHECK(static_cast<int64_t>(data.size()) == product(shape));
  for (double& v : data) v = round_to(type, v);
}

double& Buffer::at(const std::vector<int64_t>& index) {
  return data[static_cast<size_t>(flat_index(*this, index))];
}
double Buffer::at(const std::vector<int64_t>& index) const {
  return data[static_cast<size_t>(flat_index(*this, index))];
}

const char* name_of(InterpError::Kind kind) {
  switch (kind) {
    case InterpError::Kind::kArgument:
      return "bad argument";
    case InterpError::Kind::kSize:
      return "size not positive";
    case InterpError::Kind::kAssert:
      return "assertion violated";
    case InterpError::Kind::kOutOfBounds:
      return "out of bounds";
    case InterpError::Kind::kPoison:
      return "uninitialised element read";
    case InterpError::Kind::kConfig:
      return "config field never written";
    case InterpError::Kind::kDivision:
      return "division by zero";
    case InterpError::Kind::kSteps:
      return "step limit";
    case InterpError::Kind::kUnsupported:
      return "unsupported operation";
  }
  return "?";
}

std::string first_difference(const Buffer& a, const Buffer& b, double tolerance) {
  if (a.shape != b.shape) return "shapes differ";
  for (size_t i = 0; i < a.data.size(); ++i) {
    const double x = a.data[i], y = b.data[i];
    if (is_poison(x) && is_poison(y)) continue;
    if (std::isnan(x) && std::isnan(y) && !is_poison(x) && !is_poison(y)) continue;
    if (x == y) continue;
    const double scale = std::fmax(1.0, std::fmax(std::fabs(x), std::fabs(y)));
    if (std::fabs(x - y) <= tolerance * scale) continue;
    std::string where;
    size_t rest = i;
    for (size_t k = a.shape.size(); k-- > 0;) {
      const auto extent = static_cast<size_t>(a.shape[k]);
      where = std::to_string(rest % extent) + (where.empty() ? "" : ", ") + where;
      rest /= extent;
    }
    // -6 and 95, but -6.500000.
    const bool whole =
        x == std::trunc(x) && y == std::trunc(y) && std::fabs(x) + std::fabs(y) < 1e15;
    auto show = [&](double v) {
      if (is_poison(v)) return std::string("poison");
      return whole ? std::to_string(static_cast<int64_t>(v)) : std::to_string(v);
    };
    return "element [" + where + "]: " + show(x) + " and " + show(y);
  }
  return "";
}

}  // namespace exotune
