#pragma once
// What generated procs call, and the configuration they read and write.
#include <vector>

#include "core/ir/proc.h"

namespace exotune::exhaustive {

/// The type of all data of generated procs that has no other reason.
inline constexpr ScalarType kElement = ScalarType::kF32;

/// Procs that generated code calls and `replace` looks for; the first is dst[k] += src[k], k < n.
const std::vector<ProcPtr>& callees();
/// Those, and what `p` calls, directly or not.
std::vector<ProcPtr> callees_of(const ProcPtr& p);
/// Of those: set_a(value) sets Cfg.a; set_and_add(n, dst, src) sets it to 1 and adds; add_if_one
/// asserts that it is 1 and adds.
struct Device {
  ProcPtr set, set_and_add, add_if_one;
};
const Device& device();
/// A callee without effect.
ProcPtr nothing();
/// One config with the fields `a: index` and `f: f32`.
ConfigPtr config();

}  // namespace exotune::exhaustive
