#pragma once
// From what an e-graph found back to the program: candidates as schedules that the core proves.
// Start at find_candidates.
//
// An e-graph decides which view of each operand a product reads: as it lies, transposed, or with
// the windows of a convolution laid out one after the other (im2col), axes taken together. A
// candidate is replayed as copies of those views in front of the product (stage_view, mult_dim,
// mult_loops), each step proved by the core; loop orders, blocks and registers are left to who
// schedules the result. The program as written is candidate 0.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/product.h"
#include "search/eqsat/rule_audit.h"
#include "search/eqsat/saturation.h"
#include "search/eqsat/view_plan.h"

namespace exotune::eqsat {

/// The cost in numbers.
struct ViewFigures {
  double products = 0;  // multiplications of the product
  double copied = 0, along = 1;
  double across = 0;  // of those copied; see ViewCost
};

struct Candidate {
  ViewPlan plan;                   // empty: as written, or another order of the factors
  std::string text;                // of the plan: "B_view[k, j] = B[j, k]"
  std::string term;                // that it was read from
  ProcPtr proc;                    // with the copies: proved, and it knows its trace
  std::vector<std::string> rules;  // the sequence that leads from the program's term to this one
  std::string copied, along;       // the cost as text (ViewCost); "" for an order of factors
  std::optional<ViewFigures> figures;
  int product = -1;  // which one it is of
};

struct CandidateReport {
  std::vector<Candidate> candidates;  // the first is the program as written; all differ
  std::vector<std::optional<ViewFigures>> written;  // of each product as it stands
  std::vector<NotLifted> not_lifted;
  /// Terms that were extracted but not replayed, and why, counted.
  std::map<std::string, int> refused;
  size_t nodes = 0, classes = 0;  // of all graphs
  std::string dot;                // the graphs as Graphviz text, where asked for
  StopReason stop = StopReason::kSaturated;
};

struct CandidateRequest {
  std::vector<RuleText> rules;
  std::map<std::string, int64_t> constants;
  size_t k = 16;  // candidates of each product, at most
  Limits limits;
  PlanRequest plan;
  bool dot = false;
  std::map<std::string, int64_t> sizes;  // for the costs in numbers, where sizes are open
};

/// For each product of the proc: saturates with the rules, extracts the smallest terms, and replays
/// those that differ in what is copied or taken together. Throws InputError for a wrong rule text.
CandidateReport find_candidates(const ProcPtr& p, const CandidateRequest& request);

}  // namespace exotune::eqsat
