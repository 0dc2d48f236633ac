#pragma once
// Candidates compiled at most once: batches for the compiler, several compilers at once, and the
// shared objects kept for the next time the same text is asked for (other sizes, a second look).
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runners/batch_compiler.h"
#include "runners/work_directory.h"

namespace exotune {

/// Not thread-safe: of one runner, and who shares it from the same thread. Compiling runs `jobs`
/// processes at once and gives up with the thread's deadline; what was compiled until then stays
/// known. What took the compiler too long is tried again when it is asked for again: alone, it has
/// most of what is left.
class CompileCache {
 public:
  struct Options {
    std::string parent_directory;  // of the files; "" = TMPDIR
    int batch_size = 32;           // candidates per compiler run, at most
    int jobs = 1;                  // compilers at once
    double timeout_seconds = 120;  // per compiler run
    size_t most_batches = 64;      // older shared objects are removed
  };
  CompileCache(TargetToolchain toolchain, Options options);

  /// One result each, in order; good until the next call. Equal texts are compiled once.
  std::vector<CompiledCandidate> compile(std::span<const Candidate> candidates);
  /// Candidates that went through the compiler so far.
  int64_t compiled() const { return compiled_; }

 private:
  struct Batch {
    std::string folder;
    std::vector<std::string> keys;
  };
  /// In batches, as many at once as there are jobs; all are known afterwards.
  void compile_fresh(std::span<const Candidate> fresh, const std::vector<std::string>& keys,
                     size_t batch_size);
  /// Removes folders of the batches used longest ago, beyond most_batches.
  void forget_oldest();

  TargetToolchain toolchain_;
  Options options_;
  WorkDirectory directory_;
  std::map<std::string, CompiledCandidate> known_;  // by compilation_key
  std::set<std::string> late_;                      // keys of what took too long
  std::deque<Batch> batches_;
  int64_t compiled_ = 0;
  int64_t next_folder_ = 0;
  std::optional<std::string> prologue_;  // compiled headers, from the second compilation on
};

}  // namespace exotune
