#pragma once
// A kernel against its peers, in one process, interleaved: what `bench` prints and `kernel` ends
// with.
#include "cli/table.h"
#include "hw/target.h"
#include "runners/shootout.h"
#include "search/problem.h"

namespace exotune::cli {

struct Comparison {
  std::string kernel;  // label
  SizeBinding sizes;
  double flops = 0;  // of one call; 0 when unknown
  double bytes = 0;
  double peak = 0;  // GFLOP/s of this machine, measured in the same rounds; 0 when unknown
  ShootoutResult result;
};

struct ComparisonOptions {
  int rounds = 15;
  bool cold = false;
  int threads = 1;                      // of everyone
  std::vector<std::string> only_peers;  // empty: all
  SizeBinding fixed;                    // what the contender is made for only: plain code too
};

/// Times `contender` ("exo-tune"), the unscheduled kernel compiled as it stands ("unscheduled"),
/// and every peer that can do the same; where no library does (`entry` may be null), what gcc,
/// clang and clang with Polly make of the unscheduled C when sums may be reordered.
Comparison compare_with_peers(const Candidate& contender, const KernelEntry* entry,
                              const TuningProblem& problem, const Target& target,
                              const ComparisonOptions& options);

/// One row a contender: median time, GFLOP/s or GB/s, % of peak, exo-tune's ratio to it.
void add_rows(const Comparison& comparison, Table& table);
Table comparison_table();

}  // namespace exotune::cli
