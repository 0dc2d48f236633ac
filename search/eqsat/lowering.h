#pragma once
// From what an e-graph found back to the program: candidates as schedules that the core proves.
// Start at find_candidates.
//
// An e-graph decides which view of each operand a product reads: as it lies, transposed, or with
// the windows of a convolution laid out one after the other (im2col). A candidate is replayed as
// copies of those views in front of the product (stage_view), each proved by the core; loop orders,
// blocks and registers are left to who schedules the result. The program as written is candidate 0.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/product.h"
#include "search/eqsat/saturation.h"

namespace exotune::eqsat {

/// One copy of an operand: what stage_view is told.
struct StagedView {
  std::string operand, name;
  std::vector<std::pair<std::string, std::string>> axes;  // name and extent
  std::string element;                                    // "image[c, y + r, x + s]"
};

struct Candidate {
  std::vector<StagedView> views;   // empty: as written
  std::string term;                // that it was read from
  ProcPtr proc;                    // with the copies: proved, and it knows its trace
  std::vector<std::string> rules;  // the sequence that leads from the program's term to this one
};

struct CandidateReport {
  std::vector<Candidate> candidates;  // the first is the program as written; all differ
  std::vector<NotLifted> not_lifted;
  /// Terms that were extracted but not replayed, and why, counted.
  std::map<std::string, int> refused;
  size_t nodes = 0, classes = 0;  // of all graphs
  StopReason stop = StopReason::kSaturated;
};

struct RuleText {
  std::string file, text;
};

/// For each product of the proc: saturates with the rules, extracts the `k` smallest terms, and
/// replays those that want an operand in another order. Throws InputError for a wrong rule text.
CandidateReport find_candidates(const ProcPtr& p, const std::vector<RuleText>& rules,
                                const std::map<std::string, int64_t>& constants, size_t k = 16,
                                const Limits& limits = {});

}  // namespace exotune::eqsat
