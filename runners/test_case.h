#pragma once
// TestCase: the data a candidate is judged on. Values travel as doubles, which hold every element
// of every type exactly.
//
// Use: `TestCase t = make_inputs(args, seed);` run the oracle on `t.inputs`, fill `t.expected`,
// give both to a Runner. One test case serves every candidate of a kernel at one size.
#include <cstdint>
#include <vector>

#include "runners/candidate.h"

namespace exotune {

struct TestCase {
  /// Per argument, logical elements in row-major order; empty for control arguments and for data
  /// that is only written.
  std::vector<std::vector<double>> inputs;
  /// Per argument: what a written one must hold afterwards, same order; empty = not compared.
  std::vector<std::vector<double>> expected;
  /// 0: exact. Otherwise |got - want| <= tolerance * max(1, |want|).
  double tolerance = 0;
};

/// Small random integers, exactly representable, such that sums of products stay exact: +-1 for
/// bf16 and f16 beyond 64 elements, +-3 otherwise; 0..3 for unsigned. No zero in scalars (they may
/// divide or scale). The same bytes for the same arguments and seed, on every machine.
TestCase make_inputs(const std::vector<ArgSpec>& args, uint64_t seed);

}  // namespace exotune
