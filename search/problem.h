#pragma once
// TuningProblem: a kernel at one size, made concrete for the runners: its arguments, their inputs,
// and what the reference interpreter says must come out. Start at make_problem; make_candidate
// turns any schedule of the same kernel into what a Runner takes. Its library call: peer_problem.h.
#include <map>

#include "core/ir/proc.h"
#include "hw/kernel_table.h"
#include "hw/target.h"
#include "runners/candidate.h"
#include "runners/peers.h"
#include "runners/runner.h"
#include "runners/test_case.h"
#include "runners/toolchain.h"

namespace exotune {

struct TuningProblem {
  ProcPtr kernel;                  // the unscheduled proc: the meaning
  SizeBinding sizes;               // every control value, those fixed by partial evaluation too
  std::vector<ArgSpec> args;       // in the order of the C function
  std::vector<std::string> names;  // of them in the proc; its C may have to call them otherwise
  TestCase test;                   // inputs, what must come out and how nearly: test_data.h
};

struct ProblemOptions {
  uint64_t seed = 1;
  /// Innermost stride of windows about whose strides the kernel asserts nothing.
  int64_t free_stride = 2;
  /// False: inputs only, for sizes at which the interpreter would take too long.
  bool expected = true;
  /// False: not even those; the arguments' forms alone, for what is not run.
  bool inputs = true;
  /// Where given, sizes that take the interpreter more than `interpreted_steps` operations (a tenth
  /// of a second, and it runs up to six times) are judged by the compiled C of the nest as written,
  /// which was judged by the interpreter at a small size. Borrowed.
  Runner* runner = nullptr;
  int64_t interpreted_steps = 10'000'000;
  const Target* target = nullptr;  // with it: whose headers that C needs
  /// What is judged by then: the kernel in the form that will be measured as the nest as written
  /// (at its sizes, say), so that one call of it serves both; or a much faster one that is proved
  /// equal. Null: the kernel itself.
  ProcPtr written;
};

/// `sizes` names every control argument of `kernel` (and may name more). Inputs are chosen by the
/// program's conditioning (choose_test). InputError (or InterpError) when a size is missing or
/// breaks an assert.
TuningProblem make_problem(const ProcPtr& kernel, const SizeBinding& sizes,
                           const ProblemOptions& options = {});

/// The C of `scheduled`, which takes the arguments of `problem.kernel`, as a candidate. Its id is
/// the content hash of the C. Throws what generate_c throws.
Candidate make_candidate(const ProcPtr& scheduled, const Target& target,
                         const TuningProblem& problem, const std::string& stem = "kernel");

/// The element type of a scalar; R, whose precision nobody set, is f32.
ElementType element_of(ScalarType type);

/// The value of every control argument of `p`. InputError at the proc when `sizes` lacks one.
std::map<Sym, int64_t> control_values(const Proc& p, const SizeBinding& sizes);

/// Do the asserts of `p` hold there? Those that speak of strides count as if they did.
bool keeps_asserts(const Proc& p, const SizeBinding& sizes);

}  // namespace exotune
