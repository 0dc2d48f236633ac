#pragma once
// Equality saturation: rules are applied to an e-graph until nothing changes or a limit is met.
// Start at saturate().
//
// Each iteration searches all rules in the graph as it stands, applies all matches, and rebuilds
// once; so the order of rules and matches does not decide what is found (egg, section 3), only how
// many terms are made that come to nothing. Limits have names and every run has a stop reason.
// Deterministic as long as no time limit is met.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "search/eqsat/rule.h"

namespace exotune::eqsat {

/// Whichever is met first ends the run with its name; an iteration that is cut short still ends
/// with a rebuild, so that the graph is sound after any of them.
struct Limits {
  int iterations = 30;             // searches of all rules
  size_t nodes = 20'000;           // EGraph::term_count: every node ever known
  size_t bytes = size_t{1} << 30;  // of the graph and the matches of one iteration
  double seconds = 2;              // by SaturationHooks::now
};

/// Which matches an iteration may use.
enum class Schedule : uint8_t {
  kEvery,  // all of them
  /// A rule with more matches than its limit is not applied but banned for some iterations; limit
  /// and ban double each time. Keeps commutativity and its like from drowning the rest.
  kBackoff,
};

/// The defaults are egg's.
struct ScheduleOptions {
  Schedule schedule = Schedule::kBackoff;
  size_t match_limit = 1'000;  // of one rule in one iteration, at first
  int ban_length = 5;          // iterations
};

/// Why a run ended.
enum class StopReason : uint8_t {
  kSaturated,   // no rule changes anything any more: all that the rules imply is there
  kIterations,  // the limits of these names
  kNodes,
  kBytes,
  kSeconds,
  kGoal,         // SaturationHooks::reached said so
  kInterrupted,  // SaturationHooks::interrupted did
};
const char* name_of(StopReason r);

/// For tests and `--verbose`: what an iteration saw and made.
struct IterationReport {
  size_t nodes = 0, classes = 0, terms = 0;  // after the iteration; see EGraph
  std::vector<size_t> matched, applied;      // by rule: matches used, unions they made
  size_t congruences = 0;                    // unions that closing the graph made
};

/// How a run went.
struct SaturationReport {
  StopReason stop = StopReason::kSaturated;
  std::vector<IterationReport> iterations;
  double seconds = 0;
};

/// The outside world, for tests and for limits that only the caller knows.
struct SaturationHooks {
  std::function<double()> now;                 // seconds; empty: the steady clock
  std::function<bool(const EGraph&)> reached;  // asked after each rebuild; true ends the run
  std::function<bool()> interrupted;           // asked often; true ends the run
};

/// Rebuilds `graph`, then runs `rules` on it. On return the graph is rebuilt, whatever stopped it.
SaturationReport saturate(EGraph& graph, const std::vector<Rule>& rules, const Limits& limits = {},
                          const ScheduleOptions& options = {}, const SaturationHooks& hooks = {});

/// Names of the rules that lead from one term to another, in the order of their use; one that
/// follows itself is named once. None where the graph keeps no proofs, or the way is too long.
std::vector<std::string> rules_between(const EGraph& graph, Id from, Id to,
                                       const std::vector<Rule>& rules);

}  // namespace exotune::eqsat
