#include "runners/test_case.h"

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

}  // namespace

TestCase make_inputs(const std::vector<ArgSpec>& args, uint64_t seed) {
  TestCase test;
  test.inputs.resize(args.size());
  test.expected.resize(args.size());
  for (size_t a = 0; a < args.size(); ++a) {
    const ArgSpec& arg = args[a];
    if (!arg.is_data() || !arg.is_read) continue;
    const Range range = input_range(arg);
    uint64_t state = hash_combine(hash_combine(seed, a), 0x65786F);
    const bool scalar = arg.kind == ArgSpec::Kind::kScalar;
    for (int64_t i = arg.elements(); i > 0; --i) {
      int value = 0;
      do {
        state = hash_mix(state + 0x9E3779B97F4A7C15ull);
        value = range.lo + static_cast<int>(state % static_cast<uint64_t>(range.hi - range.lo + 1));
      } while (scalar && value == 0);
      test.inputs[a].push_back(value);
    }
  }
  return test;
}

}  // namespace exotune
