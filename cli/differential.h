#pragma once
// Differential testing of two procs by the reference interpreter: the same small integers in, exact
// arithmetic, and every buffer compared afterwards. A second opinion on proofs, not a replacement.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/quantities.h"
#include "core/ir/proc.h"

namespace exotune::cli {

struct DifferentialResult {
  std::vector<Sizes> sizes;  // those that were run
  std::string difference;    // "" when all agree, else where and how
};

/// Names of the size, index and bool arguments of `p`, in order.
std::vector<std::string> control_names(const Proc& p);

/// Small values for the control arguments of `p` under which its asserts hold: the given number of
/// different ones where so many are found. Deterministic for a seed. Values in `fixed` stay.
std::vector<Sizes> small_sizes(const Proc& p, const Sizes& fixed, int count, uint64_t seed);

/// Runs `before` and `after` at each of `sizes`. Arguments go by name: `after` may lack those that
/// partial evaluation fixed.
DifferentialResult differential_test(const Proc& before, const Proc& after,
                                     const std::vector<Sizes>& sizes, uint64_t seed);

}  // namespace exotune::cli
