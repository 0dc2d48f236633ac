#pragma once
// Test data: inputs on which the results of a program mean something, what must come out, and how
// far a right answer may be from it. Start at choose_test.
//
// Data are real numbers to the language, and any order of a sum is right. So a test case is worth
// what the program's conditioning on it is worth: a recurrence that grows past its type's range, or
// a division by next to nothing, makes every answer wrong, the nest as written included. Inputs of
// several kinds (runners/test_case.h) are tried until what the program computes in double
// precision, as its types round, and from inputs that differ by a rounding error, agrees.
#include <memory>
#include <vector>

#include "core/interp/interp.h"
#include "core/ir/proc.h"
#include "runners/runner.h"
#include "runners/test_case.h"

namespace exotune {

/// Values by argument of the C function, logical elements.
using ArgumentValues = std::vector<std::vector<double>>;

/// What the unscheduled procedure makes of its inputs.
class Reference {
 public:
  virtual ~Reference() = default;
  /// Values afterwards of the arguments that are written; empty for others. Throws InterpError for
  /// what the program does wrong, Error(kUnavailable) when it cannot be told.
  virtual ArgumentValues run(const ArgumentValues& inputs, Arithmetic arithmetic) = 0;
  /// False: both arithmetics are the types' own.
  virtual bool has_exact() const { return true; }
};

/// The interpreter; after `step_limit` statements (0: none) it gives up with InterpError(kSteps).
std::unique_ptr<Reference> interpreted(const ProcPtr& proc, const std::vector<ArgSpec>& args,
                                       int64_t step_limit = 0);
/// The compiled C of the procedure as written; `runner` is borrowed.
std::unique_ptr<Reference> compiled(Candidate as_written, Runner& runner, double timeout_seconds);

/// The floating type with the fewest digits that `p` keeps what it computes in, its arguments
/// aside; f64 where there is none.
ScalarType narrowest_inside(const Proc& p);

/// What `p` divides integers by, and what that is made of: arguments and allocations.
std::set<Sym> integer_divisors(const Proc& p);
/// Those among the arguments are not zero: ones instead.
void keep_divisors(const Proc& proc, const std::vector<ArgSpec>& args, TestCase& test);

/// The test case of a procedure at one size. Exact (tolerance 0, no slack) where small integers
/// stay exact. Otherwise each element may be off by what 16 rounding errors of the inputs, or
/// computing in double, move it, and by 1e-4 (f32), 1e-10 (f64) of its size at least; what no kind
/// of inputs determines to 1 % (f32), 1e-6 (f64) is not compared. What the procedure keeps in
/// narrower types than its arguments rounds as those do. Deterministic. One run of the
/// reference for exact programs, up to three for each kind of inputs otherwise; without exact
/// arithmetic the first kind that determines 99 of a hundred elements will do. `first` is tried
/// before all others: what served the same program at another size; before it, where the program
/// divides by elements of an array that it writes (pivots), dominant diagonals.
TestCase choose_test(const Proc& proc, const std::vector<ArgSpec>& args, uint64_t seed,
                     Reference& reference, InputKind first = InputKind::kIntegers);

/// The share of the written elements that `test` compares, in [0, 1].
double compared_share(const TestCase& test);

}  // namespace exotune
