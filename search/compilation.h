#pragma once
// Compilation: how a schedule's C becomes machine code, where that is part of what was found. Start
// at Compilation.
//
// Data are real numbers to whoever wrote a nest, which C forbids a compiler to use unless told; and
// what one compiler leaves scalar another one makes vectors of. Both are decided by measuring, like
// everything else, and both are written down: in the C text itself, and as lines of the schedule.
#include <string>
#include <vector>

#include "runners/candidate.h"
#include "runners/toolchain.h"

namespace exotune {

struct Compilation {
  /// Sums in any order, reciprocals for divisors, fused multiply-adds, one zero.
  bool any_order = false;
  std::string compiler;  // one of other_compilers.h by name; "" = the target's own
  bool operator==(const Compilation&) const = default;
  bool is_usual() const { return *this == Compilation{}; }
};

/// The C text with that leave for gcc and clang written into it.
std::string with_sums_in_any_order(std::string c_text);

/// The candidate, compiled so; another candidate, with an id of its own.
Candidate compiled_as(Candidate candidate, const Compilation& how);

/// "# compiled with sums in any order\n# compiled by gcc\n": lines at the beginning of a schedule's
/// text; "" for the usual. A name that other_compilers() does not know is not asked for.
std::string lines_of(const Compilation& how);
Compilation compilation_asked(const std::string& script);

/// `usual` ("cc -O3 -mfma") with the compiler that was asked for; `further`: the toolchain's.
std::string build_command(const std::string& usual, const Compilation& how,
                          const std::vector<std::string>& further = {});

/// "with leave to take sums in any order, by gcc"; "" for the usual.
std::string text_of(const Compilation& how);

/// What is tried for a nest as written, the most promising first: the leave alone, then with each
/// compiler on PATH that is not the toolchain's. `narrow`: the nest has integers of fewer than 32
/// bits, which is what further instructions are for.
std::vector<Compilation> unusual_compilations(const TargetToolchain& toolchain, bool narrow);

}  // namespace exotune
