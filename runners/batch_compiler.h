#pragma once
// Many candidates, one compiler run, one shared object: the includes are parsed once. A candidate
// that does not compile costs itself (and one more run of the compiler), not its batch.
#include <span>
#include <string>
#include <vector>

#include "runners/candidate.h"
#include "runners/toolchain.h"

namespace exotune {

/// Where a compiled candidate is. `symbol` is `void (void** const* sets, int64_t count, int64_t
/// calls)`: it unpacks the pointers of each of the `count` argument sets in turn and calls the
/// kernel `calls` times in all, through a pointer the compiler cannot see through.
struct CompiledCandidate {
  std::string library;  // path of the shared object; "" when it did not compile
  std::string symbol;
  std::string error;     // the compiler's messages
  int threads = 1;       // that it starts
  bool stopped = false;  // the thread's deadline was over before it was compiled
  bool late = false;     // the compiler took longer than its part of the time
  bool ok() const { return !library.empty(); }
};

/// Equal for candidates that compile to the same code: text, function and calling convention. Sizes
/// and strides are no part of it.
std::string compilation_key(const Candidate& candidate);

/// The headers that every unit begins with, compiled once in `directory`; gcc and clang find what
/// was compiled beside the header that is returned. "" where that fails: then each unit reads them.
std::string compile_prologue(const TargetToolchain& toolchain, const std::string& directory,
                             double timeout_seconds);

/// Compiles `batch` into shared objects under `directory` (which exists), as long as the thread's
/// deadline lasts, of which one that takes long has a small part; `again`: most of it, for a single
/// candidate that was late before. One result each, in order.
std::vector<CompiledCandidate> compile_batch(const TargetToolchain& toolchain,
                                             std::span<const Candidate> batch,
                                             const std::string& directory, double timeout_seconds,
                                             const std::string& prologue = "", bool again = false);

}  // namespace exotune
