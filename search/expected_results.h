#pragma once
// expected_results: what must come out of a problem, by the reference interpreter where it is fast
// enough, else by the compiled nest as written. Start at expected_results.
#include "search/problem.h"

namespace exotune {

/// Inputs and what must come out of them, how nearly, for the arguments of `problem`. With
/// `options.runner` and a problem of more than `options.interpreted_steps` operations the nest's
/// own C says it, once that C was found to do at a small size what the interpreter does; where it
/// does something else there, the interpreter runs as long as it takes. Where no small size keeps
/// the asserts, or literals make the work, that C is compared with nothing: schedules are proved.
/// Throws what the interpreter throws, InterpError(kSteps) when the deadline ends it.
TestCase expected_results(const TuningProblem& problem, const ProblemOptions& options);

/// Operations on data that a call runs, about: every iteration of a loop counts as its middle one,
/// guards as true. 0 where bounds are known to a run alone.
double operations_of(const Proc& p, const SizeBinding& sizes);

}  // namespace exotune
