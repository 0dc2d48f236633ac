#include "runners/candidate.h"

#include <cmath>
#include <cstring>

#include "core/base/diagnostic.h"

namespace exotune {

namespace {

struct TypeRow {
  ElementType type;
  const char* name;
  size_t bytes;
  bool floating;
};
constexpr TypeRow kTypes[] = {
    {ElementType::kF16, "f16", 2, true},  {ElementType::kBf16, "bf16", 2, true},
    {ElementType::kF32, "f32", 4, true},  {ElementType::kF64, "f64", 8, true},
    {ElementType::kI8, "i8", 1, false},   {ElementType::kUi8, "ui8", 1, false},
    {ElementType::kI16, "i16", 2, false}, {ElementType::kUi16, "ui16", 2, false},
    {ElementType::kI32, "i32", 4, false},
};
// In the order of ElementType, which indexes it.
const TypeRow& row(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

template <class T>
void put(void* at, T value) {
  memcpy(at, &value, sizeof value);
}
template <class T>
T get(const void* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

// IEEE binary16 with round to nearest even, without relying on the compiler's _Float16.
uint16_t half_from_double(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  const double magnitude = std::fabs(value);
  // 65504 is the largest; from the middle between it and 65536 on rounding gives infinity.
  if (magnitude >= 65520) return sign | 0x7C00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // 2^-14 is the smallest normal number; frexp gives fractions below 1, one exponent higher.
  exponent = std::max(exponent, -13);  // subnormals share the smallest exponent
  const double unit = std::ldexp(1.0, exponent - 11);
  // nearbyint rounds half to even in the default rounding mode; 2^11 carries into the exponent.
  const auto units = static_cast<uint32_t>(std::nearbyint(magnitude / unit));
  // Without the implicit bit: subnormal, exponent field 0.
  if (units < 0x400) return static_cast<uint16_t>(sign | units);
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 13) << 10) + units));
}

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 0x3FF;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction ? std::nan("") : INFINITY)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

uint16_t bfloat_from_double(double value) {
  const auto single = static_cast<float>(value);
  const auto bits = get<uint32_t>(&single);
  // Cut off, a NaN whose bits are all low would read as infinity: one high bit of its fraction is
  // set.
  if (std::isnan(single)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  // To nearest, ties to even: 0x7FFF more where the last bit kept is 0, 0x8000 where it is 1.
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// C leaves the conversion of what does not fit undefined; test data never has it, but results of a
// wrong candidate may.
int64_t wrapped(double value) {
  return std::isfinite(value) && std::fabs(value) < 9e18 ? static_cast<int64_t>(value) : 0;
}

}  // namespace

const char* element_name(ElementType type) { return row(type).name; }
size_t element_bytes(ElementType type) { return row(type).bytes; }
bool is_floating(ElementType type) { return row(type).floating; }

ElementType element_from_name(const std::string& name) {
  for (const TypeRow& r : kTypes)
    if (name == r.name) return r.type;
  throw InputError({}, "no element type is called '" + name + "'",
                   "one of f16, bf16, f32, f64, i8, ui8, i16, ui16, i32");
}

void store_element(ElementType type, void* at, double value) {
  switch (type) {
    case ElementType::kF16:
      return put(at, half_from_double(value));
    case ElementType::kBf16:
      return put(at, bfloat_from_double(value));
    case ElementType::kF32:
      return put(at, static_cast<float>(value));
    case ElementType::kF64:
      return put(at, value);
    case ElementType::kI8:
    // Signed and unsigned have the same bits modulo 2^8.
    case ElementType::kUi8:
      return put(at, static_cast<uint8_t>(wrapped(value)));
    case ElementType::kI16:
    case ElementType::kUi16:
      return put(at, static_cast<uint16_t>(wrapped(value)));
    case ElementType::kI32:
      return put(at, static_cast<uint32_t>(wrapped(value)));
  }
}

double load_element(ElementType type, const void* at) {
  switch (type) {
    case ElementType::kF16:
      return half_to_double(get<uint16_t>(at));
    case ElementType::kBf16: {
      const uint32_t bits = static_cast<uint32_t>(get<uint16_t>(at)) << 16;
      return get<float>(&bits);
    }
    case ElementType::kF32:
      return get<float>(at);
    case ElementType::kF64:
      return get<double>(at);
    case ElementType::kI8:
      return get<int8_t>(at);
    case ElementType::kUi8:
      return get<uint8_t>(at);
    case ElementType::kI16:
      return get<int16_t>(at);
    case ElementType::kUi16:
      return get<uint16_t>(at);
    case ElementType::kI32:
      return get<int32_t>(at);
  }
  return 0;
}

// Large arrays are of these; of the others one by one is fast enough.
void store_elements(ElementType type, void* at, const double* values, size_t count) {
  auto* to = static_cast<uint8_t*>(at);
  if (type == ElementType::kF64) {
    memcpy(to, values, count * sizeof(double));
  } else if (type == ElementType::kF32) {
    for (size_t i = 0; i < count; ++i) put(to + i * sizeof(float), static_cast<float>(values[i]));
  } else {
    const size_t width = element_bytes(type);
    for (size_t i = 0; i < count; ++i) store_element(type, to + i * width, values[i]);
  }
}

void load_elements(ElementType type, const void* at, double* values, size_t count) {
  const auto* from = static_cast<const uint8_t*>(at);
  if (type == ElementType::kF64) {
    memcpy(values, from, count * sizeof(double));
  } else if (type == ElementType::kF32) {
    for (size_t i = 0; i < count; ++i) values[i] = get<float>(from + i * sizeof(float));
  } else {
    const size_t width = element_bytes(type);
    for (size_t i = 0; i < count; ++i) values[i] = load_element(type, from + i * width);
  }
}

int64_t ArgSpec::elements() const {
  if (!is_data()) return 0;
  int64_t count = 1;
  // A scalar has no shape and one element.
  if (kind != Kind::kScalar)
    for (int64_t extent : shape) count *= extent;
  return count;
}

std::vector<int64_t> ArgSpec::element_strides() const {
  if (!strides.empty()) return strides;
  std::vector<int64_t> out(shape.size(), 1);
  // Row-major: the last dimension is contiguous.
  for (size_t k = shape.size(); k-- > 1;) out[k - 1] = out[k] * shape[k];
  return out;
}

int64_t ArgSpec::span_elements() const {
  if (elements() == 0) return 0;
  if (kind == Kind::kScalar) return 1;
  const std::vector<int64_t> step = element_strides();
  // Of the last element; windows have gaps between rows, so that this is more than their elements.
  int64_t last = 0;
  for (size_t k = 0; k < shape.size(); ++k) last += (shape[k] - 1) * step[k];
  return last + 1;
}

std::vector<int64_t> ArgSpec::element_offsets() const {
  const int64_t count = elements();
  std::vector<int64_t> out(static_cast<size_t>(count), 0);
  if (kind == Kind::kScalar || count == 0) return out;
  const std::vector<int64_t> step = element_strides();
  // Counted like an odometer: the last index first, a carry takes its whole row back.
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t& o : out) {
    o = offset;
    for (size_t k = shape.size(); k-- > 0;) {
      offset += step[k];
      if (++index[k] < shape[k]) break;
      offset -= step[k] * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

ArgSpec ArgSpec::control(std::string name, int64_t value) {
  ArgSpec a;
  a.name = std::move(name);
  a.value = value;
  return a;
}

ArgSpec ArgSpec::boolean(std::string name, bool value) {
  ArgSpec a = control(std::move(name), value);
  a.kind = Kind::kBool;
  return a;
}

ArgSpec ArgSpec::tensor(std::string name, ElementType type, std::vector<int64_t> shape, bool read,
                        bool written) {
  ArgSpec a;
  a.name = std::move(name);
  a.kind = Kind::kTensor;
  a.type = type;
  a.shape = std::move(shape);
  a.is_read = read;
  a.is_written = written;
  return a;
}

ArgSpec ArgSpec::scalar(std::string name, ElementType type, bool read, bool written) {
  ArgSpec a = tensor(std::move(name), type, {}, read, written);
  a.kind = Kind::kScalar;
  return a;
}

ArgSpec ArgSpec::window(std::string name, ElementType type, std::vector<int64_t> shape,
                        std::vector<int64_t> strides, bool read, bool written) {
  ArgSpec a = tensor(std::move(name), type, std::move(shape), read, written);
  a.kind = Kind::kWindow;
  a.strides = std::move(strides);
  return a;
}

namespace {
// A window that is only read has the struct with a pointer to const, as emitted code declares it.
std::string window_type(const ArgSpec& arg) {
  if (!arg.c_type.empty()) return arg.c_type;
  return "struct exo_win_" + std::to_string(arg.shape.size()) + element_name(arg.type) +
         (arg.is_written ? "" : "c");
}

}  // namespace

std::string passed_argument(const ArgSpec& arg, size_t k) {
  const std::string at = "a[" + std::to_string(k) + "]";
  switch (arg.kind) {
    case ArgSpec::Kind::kControl:
      return "*(const int64_t*)" + at;
    case ArgSpec::Kind::kBool:
      return "(*(const int64_t*)" + at + " != 0)";
    case ArgSpec::Kind::kWindow:
      return "*(const " + window_type(arg) + "*)" + at;
    case ArgSpec::Kind::kScalar:
    case ArgSpec::Kind::kTensor:
    case ArgSpec::Kind::kContext:
      return at;
  }
  return at;
}

}  // namespace exotune
