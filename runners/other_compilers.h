#pragma once
// Other compilers: those besides a target's own that may make a candidate's machine code, and that
// plain loops are compared with. Start at other_compilers.
//
// A fixed list by name: what a record of a database asks for is looked up here, so no text of a
// record is ever a command.
#include <optional>
#include <string>
#include <vector>

#include "runners/toolchain.h"

namespace exotune {

struct OtherCompiler {
  std::string name;                // "gcc", "clang", "clang with Polly"
  std::string cc;                  // a program on PATH
  std::vector<std::string> flags;  // besides the toolchain's
  /// What it is told when sums may be taken in any order and it has no pragma for it.
  std::vector<std::string> leave;
  /// What it gets for one unit, at most: what takes longer counts as not compiled.
  double timeout_seconds = 120;
  /// Of the time that the thread's deadline leaves, what it gets at most: one that thinks long must
  /// not take the time of all that is to be measured.
  double share = 1;
  /// With vectors half as wide as the toolchain prefers: what loops of few elements fill.
  bool half_vectors = false;
  /// With what this CPU has beyond what the target needs, as the toolchain says.
  bool further = false;
  /// Does it take the toolchain's instructions, no more, as wide as they are?
  bool is_plain() const { return !half_vectors && !further; }
};

/// The flag for half of the width that one of `flags` prefers; "" where none speaks of it.
std::string half_width(const std::vector<std::string>& flags);

/// Those that are on PATH, always in the same order.
const std::vector<OtherCompiler>& other_compilers();

/// `toolchain` with the compiler of that name, with that leave; "" is the toolchain's own. Nothing:
/// there is none, or it is to halve a width that the toolchain does not speak of, or this CPU has
/// nothing further.
std::optional<TargetToolchain> with_compiler(const TargetToolchain& toolchain,
                                             const std::string& name);

}  // namespace exotune
