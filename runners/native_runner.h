#pragma once
// NativeRunner: candidates on this machine. Compiles in batches into one shared object, then forks
// a child per candidate that loads it, checks it and times it.
//
// Checks, in the child, before any timing: every buffer lies between two inaccessible pages, once
// flush with the page after it and once with the page before it, the rest filled with guard words;
// outputs that are only written, the stack and malloc'ed memory start as NaN (integers: two
// different patterns in the two runs); memory between a window's strides must not change.
#include <memory>
#include <string>
#include <vector>

#include "runners/runner.h"
#include "runners/toolchain.h"

namespace exotune {

class CompileCache;

struct NativeOptions {
  std::string work_directory;            // "" = a fresh folder under TMPDIR, removed at the end
  int batch_size = 32;                   // candidates per shared object
  int jobs = 1;                          // compilers at once
  double compile_timeout_seconds = 120;  // per batch
  /// By shared_compiler, for the same toolchain: what one user of it compiled, none compiles again.
  /// Null: one of its own.
  std::shared_ptr<CompileCache> compiler = nullptr;
};

/// What a runner and an arena of one thread may share, by NativeOptions::compiler.
std::shared_ptr<CompileCache> shared_compiler(const TargetToolchain& toolchain,
                                              const NativeOptions& options);

/// Used by one thread at a time; others may run meanwhile.
class NativeRunner : public Runner {
 public:
  /// Throws Error(kUnavailable) when the compiler is missing or the CPU lacks the toolchain's isa.
  explicit NativeRunner(TargetToolchain toolchain, NativeOptions options = {});
  ~NativeRunner() override;
  std::string name() const override { return "native"; }
  SampleUnit unit() const override { return SampleUnit::kSeconds; }
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase& test,
                               const RunOptions& options) override;
  Evaluation evaluate(const Candidate& candidate, const std::vector<std::vector<double>>& inputs,
                      double timeout_seconds) override;
  const TargetToolchain& toolchain() const;
  /// Candidates that went through the compiler; a text seen before does not, whatever its sizes.
  int64_t compiled() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace exotune
