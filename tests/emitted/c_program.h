#pragma once
// Many procs as one C program that runs by itself: compiled once, fed every call's arguments from a
// file, its results compared with the interpreter's. A program of its own can run under a thread or
// address sanitizer, and a crash costs no test but its own. Start at CProgram.
#include <optional>
#include <string>
#include <vector>

#include "core/codegen/codegen.h"
#include "core/interp/interp.h"

namespace exotune::emitted {

/// How a program is made and run. Optimised a little, contraction off, every warning an error.
struct Build {
  std::string compiler = "gcc";
  std::vector<std::string> flags;
  std::vector<std::string> environment;  // "OMP_NUM_THREADS=4"
  /// Parallel loops run on threads that the program starts and joins itself instead of OpenMP's
  /// own, of which a sanitizer sees only half: what it then reports is a race of the loop.
  bool own_threads = false;
  /// Buffers fill their block of memory exactly: for the address sanitizer, which guards blocks.
  bool exact_blocks = false;
};
/// OpenMP with four threads a loop, in loops within parallel loops too.
Build four_threads(const std::string& compiler = "gcc");
/// The same loops on four threads under ThreadSanitizer.
Build thread_sanitizer();
/// Sequential, under AddressSanitizer and UndefinedBehaviorSanitizer.
Build address_sanitizer();

class CProgram {
 public:
  explicit CProgram(CodegenOptions options = {});
  /// The number of the proc in this program; InputError when it has no C. Names may repeat.
  size_t add(const ProcPtr& p);
  /// One more call of proc number `proc`. False when the interpreter cannot run it.
  bool call(size_t proc, const Arguments& arguments);
  size_t procs() const { return procs_.size(); }
  size_t calls() const { return calls_.size(); }

  struct Failure {
    size_t proc;
    std::string what;  // the difference, or what compiler or sanitizer say
  };
  /// Compiles and runs all calls. The first failures of each kind; none: everything agreed.
  std::vector<Failure> run(const Build& build);

 private:
  struct Call {
    size_t proc;
    Arguments before, after;  // after: as the interpreter leaves them
  };
  std::vector<Failure> compare(const std::string& outputs) const;

  CodegenOptions options_;
  std::optional<CFile> file_;  // of all procs so far
  std::vector<ProcPtr> procs_;
  std::vector<Call> calls_;
};

/// How many parallel loops the C of `p` has, callees included.
int parallel_loops(const Proc& p);

/// What compilers say when one of `flags` does not work here, else "".
std::string unavailable(const Build& build);

}  // namespace exotune::emitted
