#pragma once
// DpSession: the dynamic program about one question: the machine as it sees it, what is remembered
// in the memo beside the user's database, and the solver. Start at DpSession::solve.
#include <memory>
#include <optional>
#include <string>

#include "search/dp/dp.h"
#include "search/dp/dp_plans.h"
#include "search/dp/lift.h"
#include "search/dp/machine.h"
#include "search/dp/stored_memo.h"

namespace exotune {

/// Machine, memo and solver, which refer to each other. Target and request are borrowed. Opens the
/// stored memo if the request has a place for it. What was solved is on disk when save() returned.
class DpSession {
 public:
  DpSession(const Target& target, const DpRequest& request);

  SpecMemo& memo() { return stored_ ? static_cast<SpecMemo&>(*stored_) : fresh_; }
  ActionSpace& space() { return *space_; }
  SpecSolver& solver() { return *solver_; }
  /// Null when nothing is kept.
  const StoredMemo* stored() const { return stored_.get(); }
  static constexpr int kWanted = 1;  // plans that make an answer

  /// Why there is no answer.
  DpOutcome stopped_by() const;
  /// Nothing when the request's deadline or budget ends first. In slices, each of which ends with
  /// what was solved on disk.
  std::optional<MemoValue> solve(const Spec& spec);
  void save() {
    if (stored_) stored_->save();
  }
  /// The schedule that a plan stands for.
  Steps steps(const PlanNode& plan, const LiftedNest& nest);

 private:
  DpMachine machine_;
  const Target& target_;
  const DpRequest& request_;
  const ValueList instructions_;
  SpecKinds kinds_;
  LayoutPool layouts_;
  BoxMemo fresh_;
  std::unique_ptr<StoredMemo> stored_;
  std::unique_ptr<ActionSpace> space_;
  std::unique_ptr<SpecSolver> solver_;
  Deadline slice_;
  SolverBudget budget_;
};

/// The file of a request's memo, which holds one set of instructions, one set of costs, one number
/// of threads; "" when nothing is kept.
std::string file_of(const DpRequest& request);
/// The request's instructions, or all of the target.
ValueList instructions_of(const DpRequest& request, const Target& target);

}  // namespace exotune
