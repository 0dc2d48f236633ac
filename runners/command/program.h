#pragma once
// Programs: a candidate and its test as ONE ELF file, the same for every runner that speaks the
// contract: bare-metal, or for Linux on the target. Start at ProgramBuilder::build.
//
// The program calls the kernel twice, on memory filled with two different poisons between guard
// words, measures the second call, checks both against the expected outputs and prints what
// contract.h says.
#include <map>
#include <string>
#include <vector>

#include "runners/candidate.h"
#include "runners/runner.h"
#include "runners/test_case.h"
#include "runners/toolchain.h"

namespace exotune {

struct BuiltProgram {
  std::string elf;       // path; "" when it could not be built
  std::string error;     // the compiler's first messages
  bool stopped = false;  // the time was over: says nothing about the program
  bool ok() const { return !elf.empty(); }
};

/// The trial of a candidate whose program could not be built: its compiler's fault, unless it was
/// stopped, which says nothing about the candidate.
TrialResult unbuilt(const Candidate& candidate, const BuiltProgram& program, const RunOptions& run);

/// What a program stands on.
enum class ProgramForm : uint8_t { kBareMetal, kLinux };

class ProgramBuilder {
 public:
  /// Files go to `directory`, which exists. Throws Error(kUnavailable) when the toolchain has no
  /// compiler for such programs, with the package that has one.
  ProgramBuilder(TargetToolchain toolchain, std::string directory, double timeout_seconds,
                 ProgramForm form = ProgramForm::kBareMetal);

  /// Compiles what all candidates of one test share; at most once for each test. InputError when
  /// the test does not fit the arguments.
  void prepare(const std::vector<ArgSpec>& args, const TestCase& test);
  /// Several threads may build for the test that was prepared last.
  BuiltProgram build(const Candidate& candidate) const;

 private:
  BuiltProgram compile(const std::vector<std::string>& sources, const std::string& output,
                       bool link) const;
  void compile_shared(const std::string& source);
  std::string packages() const;  // a hint: what to install
  TargetToolchain toolchain_;
  std::string directory_;
  double timeout_seconds_;
  ProgramForm form_;
  std::vector<std::string> libraries_;  // flags for the C library, where there is one
  std::vector<std::string> shared_;     // objects of the runtime
  std::string problem_;                 // name of the test prepared last
  std::string forms_;                   // of its arguments
  TestCase test_;
};

}  // namespace exotune
