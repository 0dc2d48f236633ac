#include "runners/test_case.h"

#include <algorithm>

#include "core/base/hashing.h"

namespace exotune {

namespace {

struct Range {
  int lo, hi;
};

Range input_range(const ArgSpec& arg) {
  switch (arg.type) {
    case ElementType::kF16:
    case ElementType::kBf16:
      return arg.elements() > 64 ? Range{-1, 1} : Range{-3, 3};
    case ElementType::kUi8:
    case ElementType::kUi16:
      return {0, 3};
    default:
      return {-3, 3};
  }
}

uint64_t next(uint64_t state) { return hash_mix(state + 0x9E3779B97F4A7C15ull); }
double unit_of(uint64_t state) { return static_cast<double>(state >> 11) * 0x1p-53; }

/// An element of a tensor whose rows are ruled by their diagonal.
double dominant(const ArgSpec& arg, uint64_t seed, int64_t element) {
  const int64_t columns = arg.shape.back(), rows = arg.shape[arg.shape.size() - 2];
  const int64_t j = element % columns, i = element / columns % rows,
                matrix = element / columns / rows;
  // Both halves alike where there are two.
  const bool square = rows == columns;
  const int64_t low = square ? std::min(i, j) : i, high = square ? std::max(i, j) : j;
  const uint64_t state = next(hash_combine(hash_combine(seed, static_cast<uint64_t>(matrix)),
                                           static_cast<uint64_t>(low * columns + high)));
  const double v = 0.25 + 0.75 * unit_of(state);
  return i == j ? 1 + v : v / (2 * static_cast<double>(std::max(rows, columns)));
}

double value_of(const ArgSpec& arg, InputKind kind, uint64_t seed, uint64_t state,
                int64_t element) {
  const double v = 0.25 + 0.75 * unit_of(state);
  const double sign = state & 1 ? -1 : 1;
  const bool scalar = arg.elements() == 1;
  switch (kind) {
    case InputKind::kIntegers:
      break;
    case InputKind::kUnit:
      return v;
    case InputKind::kDominant:
      return arg.shape.size() < 2 ? v : dominant(arg, seed, element);
    case InputKind::kSmall:
      return scalar
                 ? sign * v
                 : sign * v / (2 * static_cast<double>(arg.shape.empty() ? 1 : arg.shape.back()));
    case InputKind::kSpread:
      if (scalar) return (state & 2 ? 2 : 0.125) * v;
      return arg.shape.size() < 2 ? v : dominant(arg, seed, element);
    case InputKind::kFields:
      if (scalar) return v;
      return (next(seed) & 1 ? 1 : 300) * (0.9 + 0.2 * unit_of(state));
  }
  return 0;
}

double rounded_to(ElementType type, double value) {
  unsigned char bytes[8];
  store_element(type, bytes, value);
  return load_element(type, bytes);
}

}  // namespace

TestCase make_inputs(const std::vector<ArgSpec>& args, uint64_t seed, InputKind kind) {
  TestCase test;
  test.kind = kind;
  test.inputs.resize(args.size());
  test.expected.resize(args.size());
  for (size_t a = 0; a < args.size(); ++a) {
    const ArgSpec& arg = args[a];
    if (!arg.is_data() || !arg.is_read) continue;
    const Range range = input_range(arg);
    const uint64_t own = hash_combine(hash_combine(seed, a), 0x65786F);
    uint64_t state = own;
    const bool scalar = arg.kind == ArgSpec::Kind::kScalar;
    const bool integers = kind == InputKind::kIntegers || !is_floating(arg.type);
    const int64_t count = arg.elements();
    test.inputs[a].reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      double value = 0;
      do {
        state = next(state);
        value = integers
                    ? range.lo +
                          static_cast<int>(state % static_cast<uint64_t>(range.hi - range.lo + 1))
                    : rounded_to(arg.type, value_of(arg, kind, own, state, i));
      } while (scalar && integers && value == 0);
      test.inputs[a].push_back(value);
    }
  }
  return test;
}

}  // namespace exotune
