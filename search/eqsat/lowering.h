#pragma once
// From what an e-graph found back to the program: candidates as schedules that the core proves.
// Start at find_candidates.
//
// An e-graph decides which view of each operand a product reads: as it lies, transposed, or with
// the windows of a convolution laid out one after the other (im2col), axes taken together. A
// candidate is replayed as copies of those views in front of the product (stage_view, mult_dim,
// mult_loops), each step proved by the core; loop orders, blocks and registers are left to who
// schedules the result. Where the term cuts or pads the axes there are no such copies: then its
// loops are proved to count the same points as the program's (index_plan.h). The program as written
// is candidate 0.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/index_plan.h"
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

/// Why a candidate may stand for the program. Nothing is emitted of one that was only tested.
enum class CandidateProof : uint8_t {
  kNone,       // the program as written
  kReplay,     // copies and fused loops, one primitive after another
  kBijection,  // its points are the program's, each once: linear arithmetic and Z3
  kTested,     // equal on random numbers modulo a prime; it has no proc
};
const char* name_of(CandidateProof proof);  // "by replay", "by Z3", "tested"

struct Candidate {
  ViewPlan plan;                   // empty: as written, or another order of the factors
  std::optional<IndexPlan> loops;  // of kBijection
  CandidateProof proof = CandidateProof::kNone;
  std::string text;                // of the plan: "B_view[k, j] = B[j, k]"
  std::string term;                // that it was read from
  ProcPtr proc;                    // with the copies: proved, and it knows its trace; or null
  std::vector<std::string> rules;  // the sequence that leads from the program's term to this one
  std::string copied, along;       // the cost as text (ViewCost); "" for an order of factors
  std::optional<ViewFigures> figures;
  int product = -1;       // which one it is of
  bool in_steps = false;  // a reduction over windows: only worth a try where it saves operations
};

struct CandidateReport {
  std::vector<Candidate> candidates;  // the first is the program as written; all differ
  std::vector<std::optional<ViewFigures>> written;  // of each product as it stands
  std::vector<NotLifted> not_lifted;
  /// Terms that were extracted but not replayed, and why, counted.
  std::map<std::string, int> refused;
  size_t nodes = 0, classes = 0;             // of all graphs
  std::string dot;                           // the graphs as Graphviz text, where asked for
  StopReason stop = StopReason::kSaturated;  // of the last graph that met a limit, if one did
};

struct CandidateRequest {
  std::vector<RuleText> rules;
  /// Those for reductions over windows; without any they are left as they are.
  std::vector<RuleText> reductions;
  std::map<std::string, int64_t> constants;
  /// For rules that cut axes in blocks of K, which are parts of blocks of L: {64, 16} is the rules
  /// with K = 64 and L = 0 until nothing is new, then, in the same graph, with K = 16 and L = 64.
  std::vector<int64_t> blocks;
  size_t k = 16;  // candidates of each product, at most
  /// Beside them as many whose loops count the same points, for rules that cut or pad axes. 0 puts
  /// none to proof: proofs take up to seconds each.
  size_t loops = 0;
  Limits limits;
  PlanRequest plan;
  bool dot = false;
  std::map<std::string, int64_t> sizes;  // for the costs in numbers, where sizes are open
  /// Keep terms that have no proof but are equal to the program on random numbers, without a proc.
  bool allow_tested = false;
};

/// For each product of the proc: saturates with the rules, extracts the smallest terms, and replays
/// those that differ in what is copied or taken together. Throws InputError for a wrong rule text.
CandidateReport find_candidates(const ProcPtr& p, const CandidateRequest& request);

}  // namespace exotune::eqsat
