#pragma once
// Members: the kernels of a family for one target, each replayed from its schedule, proved, and
// ready to be emitted. Start at prove_members.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/cursor/value.h"
#include "hw/target.h"
#include "search/families/family.h"

namespace exotune::families {

/// One kernel with all its parameters fixed, in one version.
struct Member {
  std::string name;          // "saxpy_any"; several versions share it
  std::string scheduled_as;  // the member whose schedules it has: mostly itself
  std::string c_name;        // "blas_saxpy_any_avx512", or "blas_saxpy_any_v0_avx512" of several
  std::string when;          // the sizes this version is for, "n < 16"; "" for all that are left
  std::string unit;          // the precision it belongs to, "mixed" for none
  std::string code;          // its object code
  std::string schedule;      // the script that was replayed
  ProcPtr proc;              // as scheduled; proved
  size_t steps = 0;          // primitives applied
  bool reassociates = false;
};

/// Reads and schedules kernels for one target.
class Prover {
 public:
  explicit Prover(TargetPtr target);
  /// The procedure `name` of `code`, with the assert `when` unless that is empty; checked.
  ProcPtr read(const std::string& code, const std::string& name, const std::string& when) const;
  /// `kernel` after the script, checked. `member` is what messages call it.
  ProcPtr replay(const ProcPtr& kernel, const std::string& script, const std::string& member) const;

 private:
  TargetPtr target_;
  std::shared_ptr<const std::map<std::string, Value>> names_;  // of the target, and `instrs`
};

/// Schedules by member's name, instead of the ones in the family's file.
using Wisdom = std::map<std::string, std::string>;

/// The member whose schedules the one with these places takes: mostly itself.
std::string scheduled_as(const KernelTemplate& kernel, const Substitution& places);

/// Every member of `family` for `target`, in the order of the file, the versions of one together.
/// InputError or SchedulingError that names the member when its code does not parse or a step is
/// refused. Members are proved side by side; the first offence in their order is the one thrown.
std::vector<Member> prove_members(const Family& family, const TargetPtr& target,
                                  const Wisdom& wisdom);

/// The C name of a member, whatever versions it has: what bodies call.
std::string c_name_of(const std::string& member, const Target& target);

/// What templates may say of the target, the family's own words for it first: ${unit.f32} "16,
/// AVX512, instrs", ${lanes.f32}, ${memory},
/// ${transpose.f32}, ${blocks.f32} "16, 8, 4, 2, 1", where another target has vectors of half the
/// width ${half.f32} "8, AVX2, instrs_avx2", and otherwise nothing for all that [half] names,
/// ${few} and ${several} (sizes below one and below eight vectors of any type).
Substitution places_of(const Family& family, const Target& target);

}  // namespace exotune::families
