#pragma once
// The dynamic program as the tuner uses it: the k cheapest plans of a kernel as schedules,
// and what is known about them afterwards. Start at dp_plans.
//
// What is solved is kept in a memo beside the user's database: a run that is stopped at any time
// keeps it, and asking again goes on from there (or only reads).
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/ir/proc.h"
#include "core/library/step.h"
#include "cost/target_figures.h"
#include "hw/target.h"

namespace exotune {

/// A kernel of three loops takes 100,000 to 600,000 Specs (1 to 6 s of a core), and none that took
/// more than twice as many had a plan in the end.
constexpr int64_t kDpSpecs = 1'500'000;

struct DpRequest {
  int plans = 8;
  int threads = 1;           // that a plan may use
  int jobs = 1;              // threads that plan: the same plans, sooner
  int64_t specs = kDpSpecs;  // solved at most; what was solved until then is kept
  int64_t memory_bytes = 0;  // of this process at most; 0: a quarter of the machine's
  Deadline deadline;         // ends it sooner
  std::string memo_file;     // "": nothing is kept
  TargetFigures figures;     // what is known beyond the target's text
  ValueList instructions;  // that steps may use, the preferred ones first; empty: all of the target
  std::vector<std::string> avoided;  // instructions that no plan may end in
};

struct DpPlan {
  Steps steps;        // that make it from the kernel
  int64_t units = 0;  // cost by the model
  int rank = 0;       // of the cheapest plans; equal schedules count once
};

enum class DpOutcome : uint8_t {
  kSolved,
  kNotLifted,
  kNoPlan,
  kGaveUp,  // nothing near the floor, and a while after that nothing at all
  kOutOfSpecs,
  kOutOfMemory,
  kOutOfTime,
  kInterrupted
};
const char* name_of(DpOutcome outcome);

struct DpPlans {
  DpOutcome outcome = DpOutcome::kNotLifted;
  std::vector<DpPlan> plans;  // cheapest first
  int units_per_cycle = 1;
  bool dividing = false;  // each loop has a tile among those tried that divides it
  int64_t solved = 0;     // Specs worked out now
  int64_t known = 0;      // Specs read from the memo file
  int64_t expanded = 0;   // actions looked at now
  double seconds = 0;
  std::string memo;  // its statistics on one line
};

/// `proc` with its sizes fixed. A proc that is not one affine nest, and a target without vector
/// registers, have no plans: an outcome, not an error.
DpPlans dp_plans(const Proc& proc, const Target& target, const DpRequest& request);

/// Can the proc be read as one Spec of literal extents?
bool lifts(const Proc& proc);

/// The plan whose steps begin `lines` of a script (or, when none does, the cheapest one) as a tree:
/// at each node its cost, the action, and what the next best action and the best of each other kind
/// would have cost. From the memo alone: "" when it does not hold the kernel.
std::string explain_plan(const Proc& proc, const Target& target, const DpRequest& request,
                         const std::vector<std::string>& lines);

/// Where the memo of a target lies, given the database's file; "" for a database in memory.
std::string memo_file_for(const std::string& database, const Target& target);

}  // namespace exotune
