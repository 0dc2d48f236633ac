#pragma once
// Shoot-out entries: contenders that were compiled, or found, and passed their check alone. Start
// at admit.
#include <span>
#include <string>
#include <vector>

#include "runners/batch_compiler.h"
#include "runners/judge.h"
#include "runners/shootout.h"

namespace exotune {

/// One contender made ready. Borrows the contender.
struct Entry {
  const Contender* contender;
  CompiledCandidate unit;   // of a candidate
  double call_seconds = 0;  // as the check saw it; 0: not checked
};

/// What binds the entry's code to arguments, loaded into this process: call it in a child only, as
/// what is loaded may do anything. An empty Binder, and `error`, when it does not load.
Binder load_entry(const Entry& entry, const std::vector<ArgSpec>& args, std::string* error);

/// Compiles the candidates into `directory`, checks everyone in a child of its own, and says of
/// those that fail why (`results`, one a contender, in their order). The rest may take part.
std::vector<Entry> admit(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                         const PreparedCase& prepared, const ShootoutOptions& options,
                         const NativeOptions& native, const std::string& directory,
                         std::vector<ContenderResult>& results);

}  // namespace exotune
