#pragma once
// The tiers: trivial, affine (linear.h), Z3. A question is always "do these constraints
// contradict?". Answers are cached by the question up to renaming of variables.
#include <span>
#include <string>
#include <vector>

#include "core/analysis/linear.h"

namespace exotune {

struct Decision {
  Feasible feasible = Feasible::kUnknown;
  std::vector<int64_t> model;  // when kYes
};

/// Is there a point that satisfies `facts`, `disjunctions` and `question`? `sizes[v]` marks the
/// variables that a counter-example should keep small. Thread-safe.
Decision decide(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                const Formula& question, int variables, std::span<const uint8_t> sizes);

/// What solver_stats() counts, in one line with the time that each tier took over all threads.
std::string solver_report();

namespace solver_internal {
/// The affine tier alone; for tests.
Decision decide_affine(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                       const Formula& question, int variables, std::span<const uint8_t> sizes);
/// The Z3 tier alone (core/analysis/smt.cc).
Decision decide_smt(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                    const Formula& question, int variables, std::span<const uint8_t> sizes);
/// SMT-LIB 2 text of the question, without a verdict.
std::string smt_text(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                     const Formula& question);
/// Writes the question and its verdict to the proofs directory, when there is one that wants it.
void record(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
            const Formula& question, Feasible verdict, bool smt_tier);
void count_syntactic();
}  // namespace solver_internal

}  // namespace exotune
