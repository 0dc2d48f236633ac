#pragma once
// TestCase: the data a candidate is judged on. Values travel as doubles, which hold every element
// of every type exactly.
//
// Use: `TestCase t = make_inputs(args, seed);` run the oracle on `t.inputs`, fill `t.expected`,
// give both to a Runner. One test case serves every candidate of a kernel at one size. Which inputs
// a program can be judged on depends on the program: search/test_data.h chooses.
#include <cstdint>
#include <vector>

#include "runners/candidate.h"

namespace exotune {

/// What floating-point inputs look like; integer types always get small integers.
enum class InputKind {
  kIntegers,  // small integers: sums of products stay exact, in any order
  kUnit,      // in (1/4, 1): no cancellation, nothing near zero to divide by
  kDominant,  // tensors whose rows add up to less than their diagonal, symmetric where square; the
              // rest as kUnit
  kSmall,     // either sign, tensors small against their extent: recurrences contract
  kSpread,    // scalars either large or small, tensors as kDominant
  kFields,    // each tensor within a tenth of 1 or of 300: temperatures beside densities
};

struct TestCase {
  /// Per argument, logical elements in row-major order; empty for control arguments and for data
  /// that is only written.
  std::vector<std::vector<double>> inputs;
  /// Per argument: what a written one must hold afterwards, same order; empty = not compared.
  std::vector<std::vector<double>> expected;
  /// 0: exact. Otherwise |got - want| <= tolerance * max(1, |want|) + slack.
  double tolerance = 0;
  /// Per argument: by how much each element may be off besides; infinite: it is not compared.
  /// Empty: by nothing.
  std::vector<std::vector<double>> slack;
  InputKind kind = InputKind::kIntegers;  // of the inputs
};

inline constexpr InputKind kInputKinds[] = {InputKind::kIntegers, InputKind::kUnit,
                                            InputKind::kDominant, InputKind::kSmall,
                                            InputKind::kSpread,   InputKind::kFields};

/// Small random integers, exactly representable, such that sums of products stay exact: +-1 for
/// bf16 and f16 beyond 64 elements, +-3 otherwise; 0..3 for unsigned. No zero in scalars (they may
/// divide or scale). Or, for floating types, numbers of another `kind`, rounded to the type. The
/// same bytes for the same arguments, seed and kind, on every machine.
TestCase make_inputs(const std::vector<ArgSpec>& args, uint64_t seed,
                     InputKind kind = InputKind::kIntegers);

}  // namespace exotune
